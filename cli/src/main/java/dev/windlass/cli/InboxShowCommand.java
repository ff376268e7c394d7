package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.operator.FailedAttempt;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what the inbox knows of one message. */
@Command(name = "show", description = "Show what is known of a message and its failed attempts, without its payload.")
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
        List<FailedAttempt> failures = session.windlass().inbox().failures(key.source(), key.messageId());
        if (json) {
            ObjectNode object = FailedAttempts.add(failures, Json.of(message));
            if (payload) {
                object.put("payload", message.payload().orElse(null));
            }
            session.out().println(object);
        } else {
            print(new Sheet(session.out()), message);
            FailedAttempts.print(failures, session);
        }
        return 0;
    }

    private void print(Sheet sheet, SeenMessage message) {
        sheet.line("source", message.key().source());
        sheet.line("id", message.key().messageId());
        sheet.line("status", StateName.words(message.status()));
        sheet.line("topic", message.topic());
        sheet.line("hash", message.hash().map(ContentHash::hex));
        sheet.line("first seen at", message.firstSeenAt());
        sheet.line("last seen at", message.lastSeenAt());
        sheet.line("begun at", message.begunAt());
        sheet.line("lease until", message.leaseUntil());
        sheet.line("ended at", message.endedAt());
        sheet.line("ended by", message.processedBy());
        sheet.line("retries", message.retryCount());
        sheet.line("lease expiries", message.leaseExpiries());
        sheet.line("requeues", message.requeues());
        sheet.block("last error", message.lastError());
        if (payload) {
            sheet.block("payload", message.payload());
        }
    }
}
