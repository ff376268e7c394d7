package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Transactions that were prepared and not ended: they hold what open ones hold, also across a restart. */
final class PreparedTransactionsCheck implements Check {
    private static final String SQL = """
            select p.gid, extract(epoch from clock_timestamp() - p.prepared)::bigint
              from pg_prepared_xacts p
             where p.prepared < clock_timestamp() - make_interval(secs => ?)
             order by p.prepared
             limit 20""";

    private record Prepared(String id, Duration age) {}

    @Override
    public String name() {
        return "prepared transactions";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        List<Prepared> all =
                patient.list(SQL, row -> new Prepared(row.getString(1), Duration.ofSeconds(row.getLong(2))), (double)
                        patient.older().toSeconds());
        for (Prepared one : all) {
            findings.problem(
                    "'%s' was prepared %s ago and has not been ended".formatted(one.id, Age.of(one.age)),
                    "It holds its locks and keeps cleanup back. Ask the transaction manager what became of it, then commit"
                            + " prepared or rollback prepared.");
        }
        findings.okIfNothingElse("none is left behind");
    }
}
