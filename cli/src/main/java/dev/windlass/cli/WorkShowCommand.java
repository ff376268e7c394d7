package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows one item, how far it has come, and what became of its attempts. */
@Command(name = "show", description = "Show an item and its failed attempts, without payload, headers and result.")
final class WorkShowCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", converter = Id.class, description = "The item.")
    @SuppressWarnings("NullAway.Init")
    private WorkIdentifier id;

    @Option(
            names = "--payload",
            description =
                    "Show payload, headers and result too. They may hold personal data: mind who sees the screen.")
    private boolean payload;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        WorkItem item = session.windlass()
                .workQueue()
                .find(id)
                .orElseThrow(() -> new CommandFailure("expected an item with id " + id
                        + ", found none; it may have been purged or cleaned up, or be in another --schema or --work-table;"
                        + " 'windlass queue list' lists those there are"));
        List<FailedAttempt> failures = session.windlass().workQueue().failures(id);
        if (json) {
            ObjectNode object = FailedAttempts.add(failures, Json.of(item));
            if (payload) {
                Json.addContent(object, item.payload(), item.headers());
                object.put("result", Json.text(item.result()));
            }
            session.out().println(object);
        } else {
            print(new Sheet(session.out()), item);
            FailedAttempts.print(failures, session);
        }
        return 0;
    }

    private void print(Sheet sheet, WorkItem item) {
        sheet.line("id", item.id());
        sheet.line("queue", item.queue());
        sheet.line("type", item.type());
        sheet.line("status", StateName.words(item.status()));
        sheet.line("priority", item.priority());
        sheet.line("key", item.key());
        sheet.line("unique key", item.uniqueKey());
        sheet.line("correlation id", item.correlationId());
        sheet.line("created at", item.createdAt());
        sheet.line("due at", item.runAt());
        sheet.line("expires at", item.expiresAt());
        sheet.line("begun at", item.startedAt());
        sheet.line("owner", item.claimedBy());
        sheet.line("lease until", item.leaseExpiresAt());
        sheet.line("asked to stop", item.cancelAskedAt());
        sheet.line("ended at", item.endedAt());
        sheet.line("retries", item.retryCount());
        sheet.line("lease expiries", item.leaseExpiries());
        sheet.line("requeues", item.requeues());
        sheet.line("progress", WorkItemQueue.progress(item.progress(), item.progressText()));
        sheet.block("last error", item.lastError());
        if (payload) {
            new TreeMap<>(item.headers()).forEach((name, value) -> sheet.line("header", name + ": " + value));
            sheet.block("payload", item.payload());
            sheet.block("result", item.result());
        }
    }

    private static final class Id implements ITypeConverter<WorkIdentifier> {
        @Override
        public WorkIdentifier convert(String value) {
            return new WorkIdentifier(MessageId.uuid("item", value));
        }
    }
}
