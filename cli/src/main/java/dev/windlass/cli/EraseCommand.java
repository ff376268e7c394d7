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

    @Parameters(paramLabel = "ID", arity = "1..*", converter = MessageId.class, description = "The messages.")
    private List<OutboxMessageIdentifier> given = List.of();

    @Mixin
    private YesOption yes = new YesOption();

    @Mixin
    private ActorOption actor = new ActorOption();

    @Override
    public Integer call() throws Exception {
        yes.requireAWayToAsk(access);
        return access.with(this::erase);
    }

    private int erase(OutboxSession session) {
        List<OutboxMessageIdentifier> ids = given.stream().distinct().toList();
        if (!yes.isGiven(access, "erase what " + ids.size() + " messages say, for good?")) {
            throw new CommandFailure("expected the answer yes, got another; nothing was erased");
        }
        int erased = session.outbox().operator(actor.name()).erase(ids);
        return Fitting.report(
                session,
                "erased",
                "they are unknown, have not ended (cancel them first), or were erased before",
                ids.size(),
                erased);
    }
}
