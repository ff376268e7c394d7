package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.util.List;

/** Whether the server cleans up: every message leaves dead rows behind. */
final class AutovacuumCheck implements Check {
    private static final int MANY = 100_000;

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

    /** Ours are 0.02 and the server's own, which is 50. So many dead rows slow down what looks for work, however large the table is. */
    private static final String TOO_LATE = """
            select c.relname, o.option_name, o.option_value
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             cross join lateral pg_options_to_table(c.reloptions) o
             where n.nspname = ? and c.relkind = 'r'
               and (o.option_name = 'autovacuum_vacuum_scale_factor' and o.option_value::float8 > 0.1
                 or o.option_name = 'autovacuum_vacuum_threshold' and o.option_value::float8 > %d)
             order by c.relname, o.option_name""".formatted(MANY);

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
        tooLate(patient, findings);
        findings.okIfNothingElse("on, for all tables");
    }

    private static void tooLate(Patient patient, Findings findings) throws SQLException {
        if (Long.parseLong(patient.setting("autovacuum_vacuum_threshold")) > MANY) {
            findings.warning(
                    "autovacuum_vacuum_threshold is %s on this server: tables are cleaned up late"
                            .formatted(patient.setting("autovacuum_vacuum_threshold")),
                    "Set autovacuum_vacuum_threshold = 50 in postgresql.conf, and reload.");
        }
        patient.list(
                TOO_LATE,
                row -> {
                    String setting = row.getString(2);
                    findings.warning(
                            "table %s has %s = %s: it is cleaned up late"
                                    .formatted(row.getString(1), setting, row.getString(3)),
                            "alter table " + patient.quoted(row.getString(1))
                                    + (setting.endsWith("threshold")
                                            ? " reset (" + setting + ");"
                                            : " set (" + setting + " = 0.02);"));
                    return true;
                },
                patient.schema());
    }
}
