package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Tables with more dead rows than live ones, by the server's own estimates, and how large all is. */
final class BloatCheck implements Check {
    private static final long MANY = 100_000;
    private static final String TABLES = """
            select s.relname, s.n_live_tup, s.n_dead_tup, pg_size_pretty(pg_table_size(s.relid)),
                   pg_size_pretty(pg_indexes_size(s.relid)),
                   extract(epoch from clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum))::bigint
              from pg_stat_all_tables s
             where s.schemaname = ? and s.n_dead_tup > %d and s.n_dead_tup > s.n_live_tup
             order by s.n_dead_tup desc""".formatted(MANY);

    private static final String ALL = """
            select pg_size_pretty(sum(pg_table_size(c.oid))), pg_size_pretty(sum(pg_indexes_size(c.oid)))
              from pg_class c
              join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = ? and c.relkind = 'r'""";

    @Override
    public String name() {
        return "dead rows";
    }

    @Override
    public boolean needsTables() {
        return true;
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        List<String> bloated = patient.list(
                TABLES,
                row -> "table %s has about %,d live rows and %,d dead ones (%s, indexes %s), and was cleaned up last %s"
                        .formatted(
                                row.getString(1),
                                row.getLong(2),
                                row.getLong(3),
                                row.getString(4),
                                row.getString(5),
                                row.getObject(6) == null
                                        ? "never"
                                        : Age.of(Duration.ofSeconds(row.getLong(6))) + " ago"),
                patient.schema());
        for (String said : bloated) {
            findings.warning(
                    said,
                    "If nothing keeps cleanup back (see the transactions above), run vacuum on it; autovacuum may need more"
                            + " workers or a higher autovacuum_vacuum_cost_limit.");
        }
        findings.okIfNothingElse(patient.one(
                ALL,
                row -> "no table is full of them; tables take %s, indexes %s"
                        .formatted(row.getString(1), row.getString(2)),
                patient.schema()));
    }
}
