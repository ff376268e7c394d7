package dev.windlass.cli;

import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessage;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/** One command at work on an outbox. */
record OutboxSession(Windlass windlass, Target target, SchemaOptions schema, Paper page) {
    private static final int NEIGHBOURS = 1_000;

    PrintWriter out() {
        return page.out();
    }

    Outbox outbox() {
        return windlass.outbox();
    }

    /** By the database's clock, which is the one that stored times were read from. */
    Instant now() {
        try (Connection connection = target.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select clock_timestamp()")) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        } catch (SQLException e) {
            throw CommandFailure.of("read the time of " + target, e);
        }
    }

    /** A message as it stands in the list of those that failed, if it does: only there it is said whether it blocks its key. */
    Optional<ListedMessage> failed(OutboxMessage message) {
        if (message.status() != WorkStatus.FAILED) {
            return Optional.empty();
        }
        Instant failedAt = message.endedAt().orElseThrow();
        MessageFilter sameTime = MessageFilter.failed()
                .withTopic(message.topic())
                .withFrom(failedAt)
                .withUntil(failedAt.plusNanos(1_000));
        return outbox().operator("windlass").list(sameTime, NEIGHBOURS).stream()
                .filter(listed -> listed.id().equals(message.messageId()))
                .findFirst();
    }
}
