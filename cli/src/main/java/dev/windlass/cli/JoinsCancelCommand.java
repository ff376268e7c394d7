package dev.windlass.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Cancels a join. */
@Command(
        name = "cancel",
        description =
                "Cancel a join that is pending: nothing follows it. Its messages go on; cancel them with 'outbox cancel'.")
final class JoinsCancelCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JoinChoice choice = new JoinChoice();

    @Override
    public Integer call() throws Exception {
        return access.with(session -> {
            choice.in(session);
            if (!session.windlass().joins().cancel(choice.id())) {
                throw new CommandFailure(
                        "expected a join that is pending, got one that has ended; look at it with 'windlass joins"
                                + " show " + choice.id() + "'");
            }
            session.out().printf("cancelled join %s%n", choice.id());
            return 0;
        });
    }
}
