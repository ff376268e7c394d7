package dev.windlass.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Answers a privacy request: what a message said goes, that there was one stays. */
@Command(name = "erase", description = "Erase payload and headers of ${bundle:queue.nouns} that have ended, for good.")
final class EraseCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", arity = "0..*", description = "The ${bundle:queue.nouns}.")
    private List<String> given = List.of();

    @Mixin
    private YesOption yes = new YesOption();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        if (given.isEmpty()) {
            throw access.wrongUse("expected " + above.queue().names() + "..., got nothing");
        }
        Names.read(given, above.queue(), access);
        yes.requireAWayToAsk(access);
        return access.with(session -> erase(session, above.queue()));
    }

    private <I> int erase(OutboxSession session, WorkQueue<I, ?> queue) {
        List<I> names = queue.read(given);
        if (!yes.isGiven(access, "erase payload and headers of " + queue.count(names.size()) + " for good?")) {
            throw new CommandFailure("expected the answer yes, got another; nothing was erased");
        }
        int erased = queue.operator(session.windlass(), actor.name()).erase(names);
        return queue.report(
                session, "erased", "unknown, not ended (cancel it first), or erased before", names.size(), erased);
    }
}
