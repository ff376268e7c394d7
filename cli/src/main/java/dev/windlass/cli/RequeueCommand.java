package dev.windlass.cli;

import dev.windlass.operator.Attempts;
import dev.windlass.operator.Operator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Gives what has failed another chance. */
@Command(name = "requeue", description = "Make failed ${bundle:queue.nouns} ready again.")
final class RequeueCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private FailedChoice choice = new FailedChoice();

    @Option(
            names = "--keep-attempts",
            description = "Do not start again from the first attempt; what had used them up gets one more.")
    private boolean keepAttempts;

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access, above.queue());
        return access.with(session -> requeue(session, above.queue()));
    }

    private <I, L> int requeue(OutboxSession session, WorkQueue<I, L> queue) {
        Operator<I, L> operator = queue.operator(session.windlass(), choice.actor());
        Attempts attempts = keepAttempts ? Attempts.KEEP : Attempts.RESET;
        FailedChange<I, L> change = new FailedChange<>(
                "requeue",
                "requeued",
                queue.notRequeued(),
                one -> !queue.isErased(one),
                names -> operator.requeue(names, attempts),
                filter -> operator.requeue(filter, attempts));
        return choice.change(change, queue, session);
    }
}
