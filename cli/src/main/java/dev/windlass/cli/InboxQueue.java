package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.ListedMessage;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/** Messages of the inbox: a source, and ids that messages have there. */
final class InboxQueue extends WorkQueue<InboxKey, ListedMessage> {

    @Override
    String word() {
        return "inbox";
    }

    @Override
    String noun() {
        return "message";
    }

    @Override
    String names() {
        return "SOURCE ID";
    }

    @Override
    InboxOperator operator(Windlass windlass, String who) {
        return windlass.inbox().operator(who);
    }

    @Override
    List<InboxKey> read(List<String> words) {
        if (words.size() == 1) {
            throw new TypeConversionException("expected a source and at least one id, got only '" + words.get(0) + "'");
        }
        try {
            return words.stream()
                    .skip(1)
                    .map(id -> new InboxKey(words.get(0), id))
                    .distinct()
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }

    @Override
    InboxKey name(ListedMessage listed) {
        return listed.key();
    }

    @Override
    boolean isErased(ListedMessage listed) {
        return listed.isErased();
    }

    @Override
    boolean cancel(Windlass windlass, Connection connection, InboxKey name) {
        return windlass.inbox().cancel(connection, name.source(), name.messageId());
    }

    @Override
    boolean reschedule(Windlass windlass, Connection connection, InboxKey name, Instant dueTime) {
        return windlass.inbox().reschedule(connection, name.source(), name.messageId(), dueTime);
    }

    @Override
    String claimed() {
        return "unknown, not queued, being handled, or ended";
    }

    @Override
    boolean knows(OutboxSession session, String topic) {
        return KnownTopic.in(session.schema().qualifiedName(session.schema().inboxTable), session, topic);
    }

    /** Of all states, those that are not queued have the time of their state. */
    @Override
    String time(@Nullable WorkStatus state) {
        return state == null ? "TIME" : super.time(state);
    }

    @Override
    String[] heads(String time) {
        return new String[] {"SOURCE", "ID", "STATE", "TOPIC", time, "FAILED", "LOST", "ERROR"};
    }

    @Override
    String[] cells(ListedMessage message, Instant now) {
        return new String[] {
            message.key().source(),
            message.key().messageId(),
            StateName.words(message.status()),
            message.topic().orElse("-"),
            Printable.seconds(message.at()),
            failures(message.retryCount(), message.status(), message.endedBy().isPresent()),
            Integer.toString(message.leaseExpiries()),
            message.lastError().orElse("-")
        };
    }

    @Override
    ObjectNode json(ListedMessage listed) {
        return Json.of(listed);
    }
}
