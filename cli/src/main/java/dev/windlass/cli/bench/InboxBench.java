package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.Processed;
import java.io.PrintWriter;
import java.util.List;

/** The inbox as a guard: messages that are new, and one that was processed before. */
public final class InboxBench extends SingleCalls {
    private static final String SOURCE = "bench";
    private static final ContentHash HASH = ContentHash.of("content");

    private long last;

    public InboxBench(PrintWriter out, Settings settings) {
        super(out, settings);
    }

    @Override
    List<Call> calls(Windlass windlass) {
        Inbox inbox = windlass.inbox();
        inbox.markProcessed(begin(inbox, "old"));
        return List.of(
                new Call("begin and mark a message", () -> inbox.markProcessed(begin(inbox, nextName()))),
                new Call("process a message in a transaction", () -> process(inbox)),
                new Call("a message that was processed before", () -> refused(inbox)));
    }

    private static InboxAttempt begin(Inbox inbox, String id) {
        if (inbox.begin(SOURCE, id, HASH) instanceof Begin.Proceed proceed) {
            return proceed.attempt();
        }
        throw new IllegalStateException("expected message " + id + " to be new, got one that was there");
    }

    private void process(Inbox inbox) throws Exception {
        Processed processed = inbox.process(SOURCE, nextName(), HASH, connection -> {});
        if (processed.outcome() != Processed.Outcome.PROCESSED) {
            throw new IllegalStateException("expected a new message, got " + processed);
        }
    }

    private static void refused(Inbox inbox) {
        if (!(inbox.begin(SOURCE, "old", HASH) instanceof Begin.Done)) {
            throw new IllegalStateException("expected a message that is done, got another");
        }
    }

    @Override
    String nextName() {
        return "message-" + ++last;
    }
}
