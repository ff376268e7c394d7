package dev.windlass.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * A queue that diagnostics look at.
 *
 * @param word what its commands stand behind
 */
record QueueTable(String word, String table) {

    /** Those of the components that are there. */
    static List<QueueTable> of(InstalledComponents installed, SchemaOptions schema) {
        List<QueueTable> queues = new ArrayList<>();
        if (installed.has("outbox", schema.table)) {
            queues.add(new QueueTable("outbox", schema.table));
        }
        if (installed.has("inbox", schema.inboxTable)) {
            queues.add(new QueueTable("inbox", schema.inboxTable));
        }
        if (installed.has("work", schema.workTable)) {
            queues.add(new QueueTable("queue", schema.workTable));
        }
        if (installed.has("schedule", schema.table)) {
            queues.add(new QueueTable("timers", schema.table + "_timer"));
            queues.add(new QueueTable("runs", schema.table + "_job_run"));
        }
        return queues;
    }
}
