package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Operator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** Deletes what has failed; asks first when nobody has named each of them. */
@Command(name = "purge", description = "Delete failed ${bundle:queue.nouns} and their history for good.")
final class PurgeCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private FailedChoice choice = new FailedChoice();

    @Mixin
    private YesOption yes = new YesOption();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access, above.queue());
        if (!choice.isNamed() && !choice.isDryRun()) {
            yes.requireAWayToAsk(access);
        }
        return access.with(session -> purge(session, above.queue()));
    }

    private <I, L> int purge(OutboxSession session, WorkQueue<I, L> queue) {
        Operator<I, L> operator = queue.operator(session.windlass(), choice.actor());
        FailedChange<I, L> change = new FailedChange<>(
                "purge", "purged", "unknown, or not failed", one -> true, operator::purge, operator::purge);
        if (choice.isNamed() || choice.isDryRun()) {
            return choice.change(change, queue, session);
        }
        MessageFilter filter = untilNow(choice.filter(session), session);
        if (!yes.isGiven(access, "purge " + choice.count(change, queue, session, filter) + " for good?")) {
            throw new CommandFailure("expected the answer yes, got another; nothing was purged");
        }
        return choice.change(change, queue, session, filter);
    }

    /** What fails while the question stands was not part of it. */
    private static MessageFilter untilNow(MessageFilter filter, OutboxSession session) {
        return filter.until() == null ? filter.withUntil(session.now()) : filter;
    }
}
