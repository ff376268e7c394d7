package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.SeenMessage;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what the inbox knows of one message. */
@Command(name = "show", description = "Show what is known of a message, without its payload.")
final class InboxShowCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(index = "0", paramLabel = "SOURCE", description = "Where the message came from.")
    private String source = "";

    @Parameters(index = "1", paramLabel = "ID", description = "Its id there.")
    private String id = "";

    @Option(names = "--payload", description = "Show the payload of a queued message too. It may hold personal data.")
    private boolean payload;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        InboxKey key = new InboxKey(source, id);
        SeenMessage message = session.windlass()
                .inbox()
                .find(key.source(), key.messageId())
                .orElseThrow(() -> new CommandFailure("expected a message " + key
                        + ", found none; it may have been purged or cleaned up, or be in another --schema or"
                        + " --inbox-table"));
        if (json) {
            ObjectNode object = Json.of(message);
            if (payload) {
                object.put("payload", message.payload().orElse(null));
            }
            session.out().println(object);
        } else {
            print(session.out(), message);
        }
        return 0;
    }

    private void print(PrintWriter out, SeenMessage message) {
        line(out, "source", Optional.of(message.key().source()));
        line(out, "id", Optional.of(message.key().messageId()));
        line(out, "status", Optional.of(SeenMessages.status(message)));
        line(out, "topic", message.topic());
        line(out, "hash", message.hash().map(ContentHash::hex));
        line(out, "first seen at", Optional.of(message.firstSeenAt()));
        line(out, "last seen at", Optional.of(message.lastSeenAt()));
        line(out, "begun at", message.begunAt());
        line(out, "lease until", message.leaseUntil());
        line(out, "ended at", message.endedAt());
        line(out, "ended by", message.processedBy());
        line(out, "retries", Optional.of(message.retryCount()));
        line(out, "lease expiries", Optional.of(message.leaseExpiries()));
        line(out, "revivals", Optional.of(message.revivals()));
        message.lastError().ifPresent(error -> block(out, "last error", error));
        if (payload) {
            message.payload().ifPresent(text -> block(out, "payload", text));
        }
    }

    private static void line(PrintWriter out, String name, Optional<?> value) {
        value.ifPresent(present -> out.printf("%-16s%s%n", name, Printable.line(present.toString())));
    }

    private static void block(PrintWriter out, String name, String text) {
        out.println(name);
        Printable.lines(text).lines().forEach(line -> out.println("    " + line));
    }
}
