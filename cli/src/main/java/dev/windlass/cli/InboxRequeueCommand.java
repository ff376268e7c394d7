package dev.windlass.cli;

import dev.windlass.operator.Attempts;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Gives failed messages another chance. */
@Command(
        name = "requeue",
        description = "Make failed messages ready again; those that are not queued can be begun again.")
final class InboxRequeueCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private InboxChoice choice = new InboxChoice();

    @Option(
            names = "--keep-attempts",
            description = "Do not start again from the first attempt; what had used them up gets one more.")
    private boolean keepAttempts;

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        return access.with(session -> choice.report(session, "requeued", requeue(session)));
    }

    private int requeue(OutboxSession session) {
        return choice.isByIds()
                ? choice.operator(session).requeue(choice.keys(), attempts())
                : choice.operator(session).requeue(choice.filter(), attempts());
    }

    private Attempts attempts() {
        return keepAttempts ? Attempts.KEEP : Attempts.RESET;
    }
}
