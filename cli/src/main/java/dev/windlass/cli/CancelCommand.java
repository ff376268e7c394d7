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

    @Parameters(paramLabel = "ID", arity = "1..*", converter = MessageId.class, description = "The messages.")
    private List<OutboxMessageIdentifier> given = List.of();

    @Override
    public Integer call() throws Exception {
        return access.with(this::cancel);
    }

    /** In one transaction, so that a failure leaves all as they were; in one order, so that two of these never deadlock. */
    private int cancel(OutboxSession session) throws Exception {
        List<OutboxMessageIdentifier> ids = given.stream()
                .distinct()
                .sorted(Comparator.comparing(id -> id.value().toString()))
                .toList();
        int cancelled = session.windlass().inTransaction(connection -> {
            int count = 0;
            for (OutboxMessageIdentifier id : ids) {
                count += session.outbox().cancel(connection, id) ? 1 : 0;
            }
            return count;
        });
        return Fitting.report(
                session, "cancelled", "they are unknown, being handled, or have ended", ids.size(), cancelled);
    }
}
