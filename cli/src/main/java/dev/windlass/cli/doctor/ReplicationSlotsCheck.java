package dev.windlass.cli.doctor;

import java.sql.SQLException;

/**
 * What keeps cleanup back, or the log, for somebody who reads the log: slots that nobody reads; and standbys, whether or not they have a slot,
 * that ask for rows to stay because a query there may still need them.
 */
final class ReplicationSlotsCheck implements Check {
    private static final String LEFT = """
            select s.slot_name, coalesce(s.xmin, s.catalog_xmin) is not null,
                   pg_size_pretty(case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn) end)
              from pg_replication_slots s
             where not s.active and num_nonnulls(s.xmin, s.catalog_xmin, s.restart_lsn) > 0
             order by s.slot_name
             limit 20""";

    /** A standby tells every ten seconds what it needs, which is more than a few transactions ago. */
    private static final long OLD = 5_000;

    private static final long VERY_OLD = 1_000_000;

    /** A standby with a slot has its bound there, one without a slot has it with its process. It tells no time, only a transaction. */
    private static final String READERS = """
            select r.what, r.pid, r.transactions
              from (select 'slot ''' || s.slot_name || '''' as what, s.active_pid as pid, age(s.xmin) as transactions
                      from pg_replication_slots s
                     where s.active
                    union all
                    select 'a standby without a slot', a.pid, age(a.backend_xmin)
                      from pg_stat_activity a
                     where a.backend_type = 'walsender' and a.xact_start is null) r
             where r.transactions > %d
             order by r.transactions desc
             limit 20""".formatted(OLD);

    @Override
    public String name() {
        return "replication slots";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        patient.list(LEFT, row -> {
            findings.problem(
                    "nobody reads slot '%s'; the server keeps %s of its log for it%s"
                            .formatted(
                                    row.getString(1),
                                    row.getString(3),
                                    row.getBoolean(2) ? ", and rows that were deleted" : ""),
                    "Start its reader again, or drop it: select pg_drop_replication_slot('"
                            + row.getString(1).replace("'", "''") + "').");
            return true;
        });
        patient.list(READERS, row -> {
            reader(row.getString(1), row.getInt(2), row.getLong(3), findings);
            return true;
        });
        if (!patient.seesOtherUsers()) {
            findings.unseen("standbys without a slot cannot be seen", Patient.SEE_OTHER_USERS);
        }
        findings.okIfNothingElse("none is left behind, and none keeps cleanup back");
    }

    private static void reader(String what, int pid, long transactions, Findings findings) {
        String said = "%s (process %d) keeps rows that were deleted in the last %,d transactions"
                .formatted(what, pid, transactions);
        String remedy = "Look for a long query on that standby, and end it: select client_addr, application_name from"
                + " pg_stat_replication where pid = " + pid
                + ". If it may not delay cleanup here, set hot_standby_feedback"
                + " = off there. If the number is much smaller a minute later, all is well.";
        if (transactions > VERY_OLD) {
            findings.problem(said, remedy);
        } else {
            findings.warning(said, remedy);
        }
    }
}
