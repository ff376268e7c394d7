package dev.windlass.schema;

import dev.windlass.runtime.Require;
import java.util.List;

/**
 * A part of the schema with a version of its own: a table, what belongs to it, and its routines.
 *
 * @param name the prefix of its placeholders in the SQL files
 * @param tableName the name its tables, indexes and routines start with
 * @param version the version this program brings
 * @param minCompatible the oldest program version that can work with a database of this version
 * @param steps the SQL files, in the order in which they run
 */
public record Component(String name, String tableName, int version, int minCompatible, List<Step> steps) {

    public Component {
        Require.identifier("table name", tableName);
    }

    /** A file, and the version in which it was added or last changed. */
    public record Step(int version, String file) {}

    /** The outbox, and what becomes messages of it: timers and jobs. */
    public static Component outbox(String tableName) {
        return new Component(
                "outbox",
                tableName,
                4,
                1,
                List.of(
                        new Step(1, "outbox_table.sql"),
                        new Step(2, "outbox_table_2.sql"),
                        new Step(3, "outbox_table_3.sql"),
                        new Step(4, "outbox_table_4.sql"),
                        new Step(4, "outbox_routines.sql"),
                        new Step(4, "outbox_operations.sql"),
                        new Step(4, "outbox_timers.sql"),
                        new Step(4, "outbox_jobs.sql"),
                        new Step(4, "outbox_regrants.sql")));
    }

    /** Leases, and the permits of semaphores. */
    public static Component lease(String tableName) {
        return new Component(
                "lease",
                tableName,
                3,
                3,
                List.of(
                        new Step(3, "lease_table.sql"),
                        new Step(3, "lease_routines.sql"),
                        new Step(3, "lease_regrants.sql")));
    }

    public static Component inbox(String tableName) {
        return new Component(
                "inbox",
                tableName,
                3,
                3,
                List.of(
                        new Step(3, "inbox_table.sql"),
                        new Step(3, "inbox_routines.sql"),
                        new Step(3, "inbox_queue.sql"),
                        new Step(3, "inbox_operations.sql"),
                        new Step(3, "inbox_regrants.sql")));
    }
}
