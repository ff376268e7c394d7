package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.Windlass;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.sql.Connection;
import java.time.Instant;
import java.util.UUID;

/** Messages of the outbox. */
final class OutboxQueue extends IdQueue<OutboxMessageIdentifier, ListedMessage> {
    private static final int KEY_WIDTH = 30;

    @Override
    String word() {
        return "outbox";
    }

    @Override
    String noun() {
        return "message";
    }

    @Override
    String source() {
        return "came from a timer or a job: timer, job";
    }

    @Override
    OutboxOperator operator(Windlass windlass, String who) {
        return windlass.outbox().operator(who);
    }

    @Override
    OutboxMessageIdentifier name(UUID id) {
        return new OutboxMessageIdentifier(id);
    }

    @Override
    OutboxMessageIdentifier name(ListedMessage listed) {
        return listed.id();
    }

    @Override
    boolean isErased(ListedMessage listed) {
        return listed.isErased();
    }

    @Override
    boolean cancel(Windlass windlass, Connection connection, OutboxMessageIdentifier name) {
        return windlass.outbox().cancel(connection, name);
    }

    @Override
    boolean reschedule(Windlass windlass, Connection connection, OutboxMessageIdentifier name, Instant dueTime) {
        return windlass.outbox().reschedule(connection, name, dueTime);
    }

    @Override
    void refuse(OutboxSession session, OutboxMessageIdentifier name) {
        SomethingElse.refuse(session, name.value());
    }

    @Override
    boolean knows(OutboxSession session, String topic) {
        return KnownTopic.inTheOutbox(session, topic) || KnownTopic.ofAJob(session, topic);
    }

    @Override
    String bearers() {
        return "message, timer or job";
    }

    @Override
    String[] heads(String time) {
        return new String[] {"ID", "TOPIC", "STATE", time, "FAILED", "LOST", "KEY", "ERROR"};
    }

    @Override
    String[] cells(ListedMessage message, Instant now) {
        return new String[] {
            message.id().toString(),
            message.topic(),
            StateName.words(message.status()),
            Printable.seconds(message.at()),
            failures(message.retryCount(), message.status(), message.endedBy().isPresent()),
            Integer.toString(message.leaseExpiries()),
            key(message),
            message.lastError().orElse("-")
        };
    }

    private static String key(ListedMessage message) {
        String key = message.orderingKey()
                .map(text -> Printable.cut(Printable.line(text), KEY_WIDTH))
                .orElse("-");
        return message.blocksKey() ? key + " (blocks)" : key;
    }

    @Override
    ObjectNode json(ListedMessage listed) {
        return Json.of(listed);
    }
}
