package dev.windlass.cli;

import dev.windlass.outbox.OutboxMessageIdentifier;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Answers a privacy request: what a message said goes, that there was one stays. */
@Command(name = "erase", description = "Erase payload and headers of messages that have ended, for good.")
final class EraseCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", arity = "1..*", description = "The messages.")
    private List<String> given = List.of();

    @Mixin
    private YesOption yes = new YesOption();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        yes.requireAWayToAsk(access);
        List<OutboxMessageIdentifier> ids = MessageId.each(given, access);
        return access.with(session -> erase(session, ids));
    }

    private int erase(OutboxSession session, List<OutboxMessageIdentifier> ids) {
        if (!yes.isGiven(access, "erase payload and headers of " + Fitting.MESSAGES.count(ids.size()) + " for good?")) {
            throw new CommandFailure("expected the answer yes, got another; nothing was erased");
        }
        int erased = session.outbox().operator(actor.name()).erase(ids);
        return Fitting.MESSAGES.report(
                session, "erased", "unknown, not ended (cancel it first), or erased before", ids.size(), erased);
    }
}
