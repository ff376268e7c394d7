package dev.windlass.schema;

import dev.windlass.runtime.Require;
import java.util.List;
import java.util.stream.Stream;

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
        return first(
                "outbox",
                tableName,
                "outbox_table.sql",
                "outbox_schedule_table.sql",
                "outbox_routines.sql",
                "outbox_operations.sql",
                "outbox_timers.sql",
                "outbox_jobs.sql");
    }

    /** Leases, and the permits of semaphores. */
    public static Component lease(String tableName) {
        return first("lease", tableName, "lease_table.sql", "lease_routines.sql");
    }

    public static Component inbox(String tableName) {
        return first(
                "inbox", tableName, "inbox_table.sql", "inbox_routines.sql", "inbox_queue.sql", "inbox_operations.sql");
    }

    private static Component first(String name, String tableName, String... files) {
        return new Component(
                name,
                tableName,
                1,
                1,
                Stream.of(files).map(file -> new Step(1, file)).toList());
    }
}
