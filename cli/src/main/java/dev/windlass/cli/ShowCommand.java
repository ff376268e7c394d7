package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.outbox.DeadLetter;
import dev.windlass.outbox.FailedAttempt;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows one message, and what became of its attempts. */
@Command(name = "show", description = "Show a message and its failed attempts, without payload and headers.")
final class ShowCommand implements Callable<Integer> {

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
        OutboxMessage message = session.outbox()
                .find(id)
                .orElseThrow(() -> new CommandFailure("expected a message with id " + id.value()
                        + ", found none; it may have been purged or cleaned up, or be in another --schema or --table"));
        boolean blocksKey =
                session.deadLetter(message).map(DeadLetter::blocksKey).orElse(false);
        List<FailedAttempt> failures = session.outbox().failures(id);
        if (json) {
            ObjectNode object = Json.of(message, blocksKey, failures);
            if (payload) {
                Json.addContent(object, message);
            }
            session.out().println(object);
        } else {
            print(session.out(), message, blocksKey);
            print(session, failures);
        }
        return 0;
    }

    private void print(PrintWriter out, OutboxMessage message, boolean blocksKey) {
        line(out, "id", Optional.of(message.id().value()));
        line(out, "topic", Optional.of(message.topic()));
        line(
                out,
                "status",
                Optional.of(message.status().name().toLowerCase(Locale.ROOT).replace('_', ' ')));
        line(out, "correlation id", message.correlationId());
        line(
                out,
                "ordering key",
                message.orderingKey().map(key -> blocksKey ? key + " (blocks: others of this key wait)" : key));
        line(out, "created at", Optional.of(message.createdAt()));
        line(out, "due at", message.dueTime());
        line(out, "expires at", message.expiresAt());
        line(out, "retries", Optional.of(message.retryCount()));
        line(out, "lease expiries", Optional.of(message.leaseExpiries()));
        line(out, "requeues", Optional.of(message.requeues()));
        line(out, "ended at", message.endedAt());
        line(out, "ended by", message.processedBy());
        line(out, "erased at", message.erasedAt());
        message.lastError().ifPresent(error -> block(out, "last error", error));
        if (payload) {
            new TreeMap<>(message.headers())
                    .forEach((name, value) -> line(out, "header", Optional.of(name + ": " + value)));
            block(out, "payload", message.payload());
        }
    }

    private static void line(PrintWriter out, String name, Optional<?> value) {
        value.ifPresent(present -> out.printf("%-16s%s%n", name, Printable.line(present.toString())));
    }

    private static void block(PrintWriter out, String name, String text) {
        out.println(name);
        Printable.lines(text).lines().forEach(line -> out.println("    " + line));
    }

    private static void print(OutboxSession session, List<FailedAttempt> failures) {
        session.out().println();
        if (failures.isEmpty()) {
            session.out().println("no failed attempts");
            return;
        }
        Table table = new Table("FAILED AT", "ATTEMPT", "NODE", "ERROR");
        for (FailedAttempt failure : failures) {
            table.row(
                    Printable.seconds(failure.at()),
                    Integer.toString(failure.attempt()),
                    failure.node().orElse("-"),
                    failure.error().orElse("-"));
        }
        table.print(session.out(), session.width());
    }
}
