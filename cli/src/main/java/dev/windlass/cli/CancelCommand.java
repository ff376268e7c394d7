package dev.windlass.cli;

import dev.windlass.outbox.OutboxMessageIdentifier;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Ends messages before anybody handles them. */
@Command(name = "cancel", description = "Cancel messages that nobody has claimed yet.")
final class CancelCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", arity = "1..*", description = "The messages.")
    private List<String> given = List.of();

    @Override
    public Integer call() throws Exception {
        List<OutboxMessageIdentifier> ids = MessageId.each(given, access).stream()
                .sorted(Comparator.comparing(id -> id.value().toString()))
                .toList();
        return access.with(session -> cancel(session, ids));
    }

    /** In one transaction, so that a failure leaves all as they were; in one order, so that two of these never deadlock. */
    private int cancel(OutboxSession session, List<OutboxMessageIdentifier> ids) throws Exception {
        int cancelled = session.windlass().inTransaction(connection -> {
            int count = 0;
            for (OutboxMessageIdentifier id : ids) {
                count += session.outbox().cancel(connection, id) ? 1 : 0;
            }
            return count;
        });
        if (cancelled == 0 && ids.size() == 1) {
            SomethingElse.refuse(session, ids.get(0).value());
        }
        return Fitting.MESSAGES.report(session, "cancelled", "unknown, being handled, or ended", ids.size(), cancelled);
    }
}
