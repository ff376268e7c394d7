package dev.windlass.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Forgets failed messages; asks first when nobody has named each of them. */
@Command(
        name = "purge",
        description = "Delete failed messages for good; if they are delivered again, they are processed.")
final class InboxPurgeCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private InboxChoice choice = new InboxChoice();

    @Mixin
    private YesOption yes = new YesOption();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        if (!choice.isByIds()) {
            yes.requireAWayToAsk(access);
        }
        return access.with(session -> choice.report(session, "purged", purge(session)));
    }

    private int purge(OutboxSession session) {
        if (choice.isByIds()) {
            return choice.operator(session).purge(choice.keys());
        }
        if (!yes.isGiven(access, "purge " + choice.count(session) + " for good?")) {
            throw new CommandFailure("expected the answer yes, got another; nothing was purged");
        }
        return choice.operator(session).purge(choice.filter());
    }
}
