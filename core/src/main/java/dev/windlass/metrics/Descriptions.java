package dev.windlass.metrics;

import java.util.Map;

/** What each meter is, in the words of docs/monitoring.md. */
final class Descriptions {
    private static final Map<String, String> ALL = Map.ofEntries(
            Map.entry("windlass.latency", "From when a message could be handled to the start of its handler"),
            Map.entry("windlass.handled", "How long handlers take"),
            Map.entry("windlass.enqueued", "Messages that this process has written"),
            Map.entry("windlass.retried", "Messages that will be tried again"),
            Map.entry("windlass.dead.letters", "Messages that failed for good"),
            Map.entry("windlass.topic.unhandled", "Warnings of a topic that nobody handles"),
            Map.entry("windlass.claimed", "Messages in one claim"),
            Map.entry("windlass.settled", "Outcomes in one write"),
            Map.entry("windlass.expired", "Messages that expired before they were handled"),
            Map.entry("windlass.reaped", "Messages whose leases had run out"),
            Map.entry("windlass.claims.lost", "Messages that another one got while they were handled"),
            Map.entry("windlass.cleaned", "Messages that were deleted after their time"),
            Map.entry("windlass.stuck.found", "Messages found in progress far beyond their leases"),
            Map.entry("windlass.circuit.open", "1 while a topic rests"),
            Map.entry("windlass.queue.ready", "Messages that are due"),
            Map.entry("windlass.queue.delayed", "Messages that are due later"),
            Map.entry("windlass.queue.waiting", "Messages that wait for their turn"),
            Map.entry("windlass.queue.in.progress", "Messages in progress"),
            Map.entry("windlass.queue.failed", "Messages that failed for good and are still there"),
            Map.entry("windlass.queue.overdue", "Messages that are due for more than five minutes"),
            Map.entry("windlass.queue.stuck", "Messages in progress far beyond their leases"),
            Map.entry("windlass.queue.incomplete", "1 if not all topics could be looked at"),
            Map.entry("windlass.queue.oldest.age.seconds", "For how long the oldest message is due"),
            Map.entry("outbox.pending.messages", "Messages of the outbox that are due, delayed or wait"),
            Map.entry("outbox.processing.messages", "Messages of the outbox in progress"),
            Map.entry("outbox.failed.messages", "Messages of the outbox that failed for good"),
            Map.entry("timers.pending", "Timers that are due or will be"),
            Map.entry("timers.overdue", "Timers that are due for more than five minutes"),
            Map.entry("active.leases", "Named leases that are held"),
            Map.entry("windlass.in.hand", "Messages that this node holds"),
            Map.entry(
                    "windlass.loops",
                    "Whether all that runs in the background goes on: 0, or 1 if one fails or waits, 2 if one hangs"),
            Map.entry("windlass.measure.age.seconds", "How old the gauges of the tables are"),
            Map.entry("windlass.timers.handed.off", "Timers that became messages"),
            Map.entry("windlass.timers.late", "How late the first timer of each hand-off was"),
            Map.entry("windlass.job.runs.made", "Runs of jobs that were written"),
            Map.entry("windlass.job.runs.ended", "Runs of jobs that came to an end"),
            Map.entry("windlass.leases.acquired", "How long it took to get a named lease"),
            Map.entry("windlass.leases.refused", "Named leases that others held"),
            Map.entry("windlass.leases.renewed", "Renewals of named leases"),
            Map.entry("windlass.leases.lost", "Named leases that were lost while they were held"),
            Map.entry("windlass.content.differs", "Messages that came again with another content"),
            Map.entry("windlass.outages", "How often the database went away"),
            Map.entry("windlass.outage", "1 while the database is away"),
            Map.entry("windlass.connections.exhausted", "Warnings of a pool without a free connection"));

    private Descriptions() {}

    static String of(String name) {
        return ALL.getOrDefault(name, "");
    }
}
