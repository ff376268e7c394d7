package dev.windlass.cli;

import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Ends timers before they are due. */
@Command(name = "cancel", description = "Cancel timers that nobody handles; what is cancelled is never delivered.")
final class TimersCancelCommand implements Callable<Integer> {
    private static final String MISFITS = "unknown, being handled, failed, or done";

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", arity = "0..*", description = "The timers, or name one by its topic and key.")
    private List<String> given = List.of();

    @Mixin
    private TimerKey key = new TimerKey();

    @Override
    public Integer call() throws Exception {
        key.requireOneWay(access, !given.isEmpty());
        List<TimerIdentifier> ids = ids();
        return access.with(session -> key.isGiven() ? cancelKey(session) : cancel(session, ids));
    }

    private List<TimerIdentifier> ids() {
        try {
            return given.stream()
                    .map(value -> MessageId.uuid("timer", value))
                    .distinct()
                    .sorted(UUID::compareTo)
                    .map(TimerIdentifier::new)
                    .toList();
        } catch (TypeConversionException e) {
            throw access.wrongUse(String.valueOf(e.getMessage()));
        }
    }

    private int cancelKey(OutboxSession session) {
        if (!session.windlass().timers().cancel(key.topic(), key.key())) {
            throw new CommandFailure("expected a timer " + key + " that is not done, but it is " + MISFITS
                    + "; 'windlass timers list' lists those that are left");
        }
        session.out().printf("cancelled the timer %s%n", key);
        return 0;
    }

    /** In one transaction, so that a failure leaves all as they were; in one order, so that two of these never deadlock. */
    private static int cancel(OutboxSession session, List<TimerIdentifier> ids) throws Exception {
        Timers timers = session.windlass().timers();
        int cancelled = session.windlass().inTransaction(connection -> {
            int count = 0;
            for (TimerIdentifier id : ids) {
                count += timers.cancel(connection, id) ? 1 : 0;
            }
            return count;
        });
        return Fitting.TIMERS.report(session, "cancelled", MISFITS, ids.size(), cancelled);
    }
}
