package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.work.ListedWork;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkOperator;
import java.sql.Connection;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/** Items of the work queue. Its topics are named queues. */
final class WorkItemQueue extends IdQueue<WorkIdentifier, ListedWork> {
    private static final int WIDTH = 30;

    @Override
    String word() {
        return "queue";
    }

    @Override
    String noun() {
        return "item";
    }

    @Override
    String topic() {
        return "queue";
    }

    @Override
    boolean hasSources() {
        return false;
    }

    @Override
    boolean hasTurns() {
        return true;
    }

    @Override
    WorkOperator operator(Windlass windlass, String who) {
        return windlass.workQueue().operator(who);
    }

    @Override
    WorkIdentifier name(UUID id) {
        return new WorkIdentifier(id);
    }

    @Override
    WorkIdentifier name(ListedWork listed) {
        return listed.id();
    }

    @Override
    boolean isErased(ListedWork listed) {
        return listed.isErased();
    }

    @Override
    boolean cancel(Windlass windlass, Connection connection, WorkIdentifier name) {
        return windlass.workQueue().cancel(connection, name);
    }

    /** Looks in the transaction that has cancelled it. */
    @Override
    boolean isStopping(Windlass windlass, WorkIdentifier name) {
        return windlass.workQueue()
                .find(name)
                .filter(item -> item.status() == WorkStatus.IN_PROGRESS)
                .isPresent();
    }

    @Override
    String cancelled() {
        return "have not ended; handlers at work are asked to stop";
    }

    @Override
    String notCancelled() {
        return "unknown, or ended";
    }

    @Override
    boolean reschedule(Windlass windlass, Connection connection, WorkIdentifier name, Instant dueTime) {
        return windlass.workQueue().reschedule(connection, name, dueTime);
    }

    @Override
    String notRequeued() {
        return "unknown, not failed, erased, or has a unique key that another one has by now";
    }

    @Override
    boolean knows(OutboxSession session, String topic) {
        String table = session.schema().qualifiedName(session.schema().workTable);
        return KnownTopic.in(table, session, topic) || KnownTopic.inTurns(table, session, topic);
    }

    @Override
    String[] heads(String time) {
        return new String[] {
            "ID", "QUEUE", "TYPE", "STATE", time, "PRIORITY", "KEY", "FAILED", "LOST", "PROGRESS", "ERROR"
        };
    }

    @Override
    String[] cells(ListedWork item, Instant now) {
        return new String[] {
            item.id().toString(),
            item.queue(),
            item.type(),
            StateName.words(item.status()),
            Printable.seconds(item.at()),
            Integer.toString(item.priority()),
            item.key().map(key -> Printable.cut(Printable.line(key), WIDTH)).orElse("-"),
            failures(item.retryCount(), item.status(), item.processedBy().isPresent()),
            Integer.toString(item.leaseExpiries()),
            progress(item.progress(), item.progressText())
                    .map(text -> Printable.cut(Printable.line(text), WIDTH))
                    .orElse("-"),
            item.lastError().orElse("-")
        };
    }

    /** How far one has come, and what its handler says of that. */
    static Optional<String> progress(OptionalInt percent, Optional<String> text) {
        return percent.isEmpty()
                ? text
                : Optional.of(percent.getAsInt() + "%"
                        + text.map(words -> " " + words).orElse(""));
    }

    @Override
    ObjectNode json(ListedWork listed) {
        return Json.of(listed);
    }
}
