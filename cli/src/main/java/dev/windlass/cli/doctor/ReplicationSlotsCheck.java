package dev.windlass.cli.doctor;

import java.sql.SQLException;
import java.util.List;

/** Slots that nobody reads: the server keeps its log for them, and some keep cleanup back. */
final class ReplicationSlotsCheck implements Check {
    private static final String SQL = """
            select s.slot_name, coalesce(s.xmin, s.catalog_xmin) is not null,
                   pg_size_pretty(case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn) end)
              from pg_replication_slots s
             where not s.active and num_nonnulls(s.xmin, s.catalog_xmin, s.restart_lsn) > 0
             order by s.slot_name
             limit 20""";

    private record Slot(String name, boolean holdsRows, String log) {}

    @Override
    public String name() {
        return "replication slots";
    }

    @Override
    public void look(Patient patient, Findings findings) throws SQLException {
        List<Slot> slots = patient.list(SQL, row -> new Slot(row.getString(1), row.getBoolean(2), row.getString(3)));
        for (Slot slot : slots) {
            findings.problem(
                    "nobody reads slot '%s'; the server keeps %s of its log for it%s"
                            .formatted(slot.name, slot.log, slot.holdsRows ? ", and rows that were deleted" : ""),
                    "Start its reader again, or drop it: select pg_drop_replication_slot('"
                            + slot.name.replace("'", "''") + "').");
        }
        findings.okIfNothingElse("none is left behind");
    }
}
