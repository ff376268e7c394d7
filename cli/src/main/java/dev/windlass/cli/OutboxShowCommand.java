package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows one message, and what became of its attempts. */
@Command(name = "show", description = "Show a message and its failed attempts, without payload and headers.")
final class OutboxShowCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", converter = MessageId.class, description = "The message.")
    @SuppressWarnings("NullAway.Init")
    private OutboxMessageIdentifier id;

    @Option(
            names = "--payload",
            description = "Show payload and headers too. They may hold personal data: mind who sees the screen.")
    private boolean payload;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        OutboxMessage message = session.outbox().find(id).orElseThrow(() -> missing(session));
        boolean blocksKey =
                session.failed(message).map(ListedMessage::blocksKey).orElse(false);
        List<FailedAttempt> failures = session.outbox().failures(id);
        if (json) {
            ObjectNode object = FailedAttempts.add(failures, Json.of(message, blocksKey));
            if (payload) {
                Json.addContent(object, message);
            }
            session.out().println(object);
        } else {
            print(new Sheet(session.out()), message, blocksKey);
            FailedAttempts.print(failures, session);
        }
        return 0;
    }

    private CommandFailure missing(OutboxSession session) {
        SomethingElse.refuse(session, id.value());
        return new CommandFailure("expected a message with id " + id.value()
                + ", found none; it may have been purged or cleaned up, or be in another --schema or --table;"
                + " 'windlass outbox list' lists those there are");
    }

    private void print(Sheet sheet, OutboxMessage message, boolean blocksKey) {
        sheet.line("id", message.id().value());
        sheet.line("topic", message.topic());
        sheet.line("status", message.status().name().toLowerCase(Locale.ROOT).replace('_', ' '));
        sheet.line("correlation id", message.correlationId());
        sheet.line(
                "ordering key",
                message.orderingKey().map(key -> blocksKey ? key + " (blocks: others of this key wait)" : key));
        sheet.line("created at", message.createdAt());
        sheet.line("due at", message.dueTime());
        sheet.line("expires at", message.expiresAt());
        sheet.line("retries", message.retryCount());
        sheet.line("lease expiries", message.leaseExpiries());
        sheet.line("requeues", message.requeues());
        sheet.line("ended at", message.endedAt());
        sheet.line("ended by", message.processedBy());
        sheet.line("erased at", message.erasedAt());
        sheet.block("last error", message.lastError());
        if (payload) {
            new TreeMap<>(message.headers()).forEach((name, value) -> sheet.line("header", name + ": " + value));
            sheet.block("payload", message.payload());
        }
    }
}
