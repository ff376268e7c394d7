package dev.windlass.cli;

import dev.windlass.inbox.SeenMessage;
import java.util.List;
import java.util.Locale;

/** Lists of messages that an inbox has seen. */
final class SeenMessages {

    private SeenMessages() {}

    static void print(List<SeenMessage> messages, boolean json, String none, OutboxSession session) {
        if (json) {
            messages.forEach(message -> session.out().println(Json.of(message)));
        } else if (messages.isEmpty()) {
            session.out().println(none);
        } else {
            table(messages).print(session.page());
        }
    }

    private static Table table(List<SeenMessage> messages) {
        Table table = new Table("SOURCE", "ID", "TOPIC", "BEGUN AT", "ENDED AT", "FAILED", "LOST", "ERROR");
        for (SeenMessage message : messages) {
            table.row(
                    message.key().source(),
                    message.key().messageId(),
                    message.topic().orElse("-"),
                    message.begunAt().map(Printable::seconds).orElse("-"),
                    message.endedAt().map(Printable::seconds).orElse("-"),
                    Integer.toString(message.retryCount()),
                    Integer.toString(message.leaseExpiries()),
                    message.lastError().orElse("-"));
        }
        return table;
    }

    static String status(SeenMessage message) {
        return message.status().name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
