package dev.windlass.schema;

import dev.windlass.runtime.Require;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

    /**
     * A file, and the version in which it was added or last changed.
     *
     * @param queue what the file is written for, if it is one that every queue has
     */
    public record Step(int version, String file, @Nullable Queue queue) {
        public Step(int version, String file) {
            this(version, file, null);
        }
    }

    /**
     * A queue: the verbs that all have alike are one file, which is rendered for each.
     *
     * @param suffix what its name has in addition to the name of the component's table
     * @param signal what its nodes are told when there may be something to do
     * @param keeps whether what is done is kept, if nobody says otherwise
     * @param slots whole statements of its own, as files by the name of their place
     */
    public record Queue(String suffix, String signal, boolean keeps, Map<String, String> slots) {}

    /** The outbox, and what becomes messages of it: timers and jobs. */
    public static Component outbox(String tableName) {
        Queue messages =
                new Queue("", "", true, Map.of("claiming", "outbox_claiming.sql", "next_due", "outbox_next_due.sql"));
        return first(
                "outbox",
                tableName,
                file("outbox_table.sql"),
                file("outbox_schedule_table.sql"),
                claims(messages),
                verbs(messages),
                verbs(new Queue("_timer", "\u0001timers", false, Map.of())),
                verbs(new Queue("_job_run", "\u0001jobs", true, Map.of())),
                file("outbox_routines.sql"),
                file("outbox_ordering.sql"),
                file("outbox_dedup.sql"),
                file("outbox_operations.sql"),
                file("outbox_timers.sql"),
                file("outbox_jobs.sql"));
    }

    /** Leases, and the permits of semaphores. */
    public static Component lease(String tableName) {
        return first("lease", tableName, file("lease_table.sql"), file("lease_routines.sql"));
    }

    private static final Queue INBOX = new Queue("", "", true, Map.of());

    public static Component inbox(String tableName) {
        return first(
                "inbox",
                tableName,
                file("inbox_table.sql"),
                claims(INBOX),
                verbs(INBOX),
                file("inbox_routines.sql"),
                file("inbox_queue.sql"),
                file("inbox_operations.sql"));
    }

    private static Component first(String name, String tableName, Step... steps) {
        return new Component(name, tableName, 1, 1, List.of(steps));
    }

    private static Step file(String name) {
        return new Step(1, name);
    }

    private static Step claims(Queue queue) {
        return new Step(1, "queue_claims.sql", queue);
    }

    private static Step verbs(Queue queue) {
        return new Step(1, "queue_verbs.sql", queue);
    }
}
