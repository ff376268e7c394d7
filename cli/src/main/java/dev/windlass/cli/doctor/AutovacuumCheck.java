package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.util.List;

/** Whether the server cleans up: every message leaves dead rows behind. */
final class AutovacuumCheck implements Check {
    private static final String SWITCHED_OFF = """
            select c.relname
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             cross join lateral pg_options_to_table(c.reloptions) o
             where n.nspname = ? and c.relkind = 'r' and o.option_name = 'autovacuum_enabled' and not o.option_value::boolean
             order by c.relname""";

    /** Queues bring settings of their own; the server's would come too late. */
    private static final String WITHOUT_SETTINGS = """
            select c.relname
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = ? and c.relkind = 'r' and c.relname = ?
               and not exists (select from pg_options_to_table(c.reloptions) o
                                where o.option_name = 'autovacuum_vacuum_scale_factor')""";

    @Override
    public String name() {
        return "autovacuum";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        for (String setting : new String[] {"autovacuum", "track_counts"}) {
            if (patient.setting(setting).equals("off")) {
                findings.problem(
                        setting + " is off on this server: tables and indexes grow without end",
                        "Set " + setting + " = on in postgresql.conf, and reload.");
            }
        }
        List<String> off = patient.list(SWITCHED_OFF, row -> row.getString(1), patient.schema());
        for (String table : off) {
            findings.problem(
                    "autovacuum is off for table " + table,
                    "alter table " + patient.quoted(table) + " reset (autovacuum_enabled);");
        }
        for (Patient.Queue queue : patient.queues()) {
            for (String table :
                    patient.list(WITHOUT_SETTINGS, row -> row.getString(1), patient.schema(), queue.table())) {
                findings.warning(
                        "table " + table + " has lost its settings for autovacuum",
                        "alter table " + patient.quoted(table) + " set (autovacuum_vacuum_scale_factor = 0.02);");
            }
        }
        findings.okIfNothingElse("on, for all tables");
    }
}
