package dev.windlass.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Gives dead messages another chance. */
@Command(name = "revive", description = "Give dead messages all their attempts again.")
final class InboxReviveCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private InboxChoice choice = new InboxChoice();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        return access.with(session -> choice.report(session, "revived", revive(session)));
    }

    private int revive(OutboxSession session) {
        return choice.isByIds()
                ? choice.operator(session).revive(choice.keys())
                : choice.operator(session).revive(choice.filter());
    }
}
