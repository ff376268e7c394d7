package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.util.Collection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Deletes dead letters; asks first when nobody has named each of them. */
@Command(
        name = "purge",
        description = "Delete dead letters and their history for good; what waited behind them goes on.")
final class PurgeCommand implements Callable<Integer>, DeadLetterChange {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private DeadLetterChoice choice = new DeadLetterChoice();

    @Mixin
    private YesOption yes = new YesOption();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        if (!choice.isByIds() && !choice.isDryRun()) {
            yes.requireAWayToAsk(access);
        }
        return access.with(this::purge);
    }

    @Override
    public String verb() {
        return "purge";
    }

    @Override
    public String participle() {
        return "purged";
    }

    @Override
    public String misfits() {
        return "unknown, or not failed";
    }

    @Override
    public boolean fits(ListedMessage letter) {
        return true;
    }

    @Override
    public int apply(OutboxOperator operator, Collection<OutboxMessageIdentifier> ids) {
        return operator.purge(ids);
    }

    @Override
    public int apply(OutboxOperator operator, MessageFilter filter) {
        return operator.purge(filter);
    }

    private int purge(OutboxSession session) {
        if (choice.isByIds() || choice.isDryRun()) {
            return choice.change(this, session);
        }
        MessageFilter filter = untilNow(choice.filter(session), session);
        if (!yes.isGiven(access, "purge " + choice.count(this, session, filter) + " for good?")) {
            throw new CommandFailure("expected the answer yes, got another; nothing was purged");
        }
        return choice.changeFiltered(this, session, filter);
    }

    /** What fails while the question stands was not part of it. */
    private static MessageFilter untilNow(MessageFilter filter, OutboxSession session) {
        return filter.until() == null ? filter.withUntil(session.now()) : filter;
    }
}
