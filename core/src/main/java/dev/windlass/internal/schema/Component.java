package dev.windlass.internal.schema;

import dev.windlass.internal.support.Require;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of the schema with a version of its own: a table, what belongs to it, and its routines.
 *
 * @param name what it is known by
 * @param prefix what its placeholders in the SQL files start with
 * @param tableName the name its tables, indexes and routines start with
 * @param version the version this program brings
 * @param minCompatible the oldest program version that can work with a database of this version
 * @param steps the SQL files, in the order in which they run
 */
public record Component(
        String name, String prefix, String tableName, int version, int minCompatible, List<Step> steps) {

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
     * A queue: what all have alike are files that are rendered for each.
     *
     * @param suffix what its name has in addition to the name of the component's table
     * @param keeps whether what is done is kept, if nobody says otherwise
     * @param ranked whether its messages have priorities and keys that take turns
     * @param slots the file with the statements of its own, by the name of their place; null if it has none
     */
    public record Queue(
            String suffix,
            boolean keeps,
            boolean ranked,
            @Nullable String slots) {}

    /** What all the others need. */
    public static Component common() {
        return first("windlass", "windlass", "windlass", file("windlass.sql"), file("windlass_join.sql"));
    }

    public static Component outbox(String tableName) {
        Queue messages = new Queue("", true, false, "outbox_slots.sql");
        return first(
                "outbox",
                "outbox",
                tableName,
                table(messages),
                joins(messages),
                file("outbox_table.sql"),
                claims(messages),
                verbs(messages),
                operations(messages),
                diagnostics(messages),
                file("outbox_routines.sql"),
                file("outbox_ordering.sql"),
                file("outbox_dedup.sql"));
    }

    /** Timers and jobs, which become messages of the outbox with this table, and cannot be without it. */
    public static Component schedule(String outboxTableName) {
        Queue timers = new Queue("_timer", false, false, "schedule_timer_slots.sql");
        Queue runs = new Queue("_job_run", true, false, "schedule_job_run_slots.sql");
        return first(
                "schedule",
                "outbox",
                outboxTableName,
                table(timers),
                unique(timers),
                table(runs),
                file("schedule_table.sql"),
                claims(timers),
                verbs(timers),
                operations(timers),
                diagnostics(timers),
                claims(runs),
                verbs(runs),
                operations(runs),
                diagnostics(runs),
                file("schedule_timers.sql"),
                file("schedule_jobs.sql"));
    }

    public static Component inbox(String tableName) {
        Queue messages = new Queue("", true, false, "inbox_slots.sql");
        return first(
                "inbox",
                "inbox",
                tableName,
                table(messages),
                joins(messages),
                file("inbox_table.sql"),
                claims(messages),
                verbs(messages),
                operations(messages),
                diagnostics(messages),
                file("inbox_routines.sql"),
                file("inbox_queue.sql"),
                file("inbox_operations.sql"));
    }

    /** The work queue. */
    public static Component work(String tableName) {
        Queue items = new Queue("", true, true, "work_slots.sql");
        return first(
                "work",
                "work",
                tableName,
                table(items),
                joins(items),
                unique(items),
                file("work_table.sql"),
                claims(items),
                verbs(items),
                operations(items),
                diagnostics(items),
                file("work_routines.sql"));
    }

    /** Leases, and the permits of semaphores. */
    public static Component lease(String tableName) {
        return first("lease", "lease", tableName, file("lease_table.sql"), file("lease_routines.sql"));
    }

    private static Component first(String name, String prefix, String tableName, Step... steps) {
        return new Component(name, prefix, tableName, 1, 1, List.of(steps));
    }

    private static Step file(String name) {
        return new Step(1, name);
    }

    private static Step table(Queue queue) {
        return new Step(1, "queue_table.sql", queue);
    }

    private static Step joins(Queue queue) {
        return new Step(1, "queue_joins.sql", queue);
    }

    private static Step unique(Queue queue) {
        return new Step(1, "queue_unique.sql", queue);
    }

    private static Step claims(Queue queue) {
        return new Step(1, "queue_claims.sql", queue);
    }

    private static Step verbs(Queue queue) {
        return new Step(1, "queue_verbs.sql", queue);
    }

    private static Step operations(Queue queue) {
        return new Step(1, "queue_operations.sql", queue);
    }

    private static Step diagnostics(Queue queue) {
        return new Step(1, "queue_diagnostics.sql", queue);
    }
}
