package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Transactions that are open for long: nothing that was deleted since can be cleaned up. No text of a query is shown. */
final class OldTransactionsCheck implements Check {
    /** So many times as old as it may be, one is a problem: an hour, unless somebody says otherwise. */
    private static final int PROBLEM = 12;

    private static final int MOST = 20;

    private static final String SQL = """
            select a.pid, coalesce(a.state, a.backend_type), extract(epoch from clock_timestamp() - a.xact_start)::bigint
              from pg_stat_activity a
             where a.xact_start < clock_timestamp() - make_interval(secs => ?) and a.pid <> pg_backend_pid()
               and a.backend_type in ('client backend', 'walsender', 'background worker')
             order by a.xact_start
             limit %d""".formatted(MOST);

    private record Old(int pid, String state, Duration age) {}

    @Override
    public String name() {
        return "transactions";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        List<Old> olds = patient.list(
                SQL, row -> new Old(row.getInt(1), row.getString(2), Duration.ofSeconds(row.getLong(3))), (double)
                        patient.older().toSeconds());
        for (Old old : olds) {
            String said = "process %d has a transaction that is open for %s (%s)"
                    .formatted(old.pid, Age.of(old.age), old.state);
            String remedy = "Nothing that ended since can be cleaned up. End it where it was begun, or with"
                    + " select pg_terminate_backend(" + old.pid + ")"
                    + (old.state.startsWith("idle") ? "; idle_in_transaction_session_timeout does so by itself." : ".");
            if (old.age.compareTo(patient.older().multipliedBy(PROBLEM)) >= 0) {
                findings.problem(said, remedy);
            } else {
                findings.warning(said, remedy);
            }
        }
        if (!patient.seesOtherUsers()) {
            findings.unseen("transactions of other users cannot be seen", Patient.SEE_OTHER_USERS);
        }
        findings.okIfNothingElse("none is open for longer than " + Age.of(patient.older()));
    }
}
