package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.util.Collection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Frees ordering keys that failed messages block. */
@Command(
        name = "skip",
        description = "Let what waits behind dead letters of an ordering key go on; they stay dead letters.")
final class SkipCommand implements Callable<Integer>, DeadLetterChange {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private DeadLetterChoice choice = new DeadLetterChoice();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        return access.with(session -> choice.change(this, session));
    }

    @Override
    public String verb() {
        return "skip";
    }

    @Override
    public String participle() {
        return "skipped";
    }

    @Override
    public String misfits() {
        return "unknown, not failed, or in nobody's way";
    }

    @Override
    public boolean fits(ListedMessage letter) {
        return letter.blocksKey();
    }

    @Override
    public int apply(OutboxOperator operator, Collection<OutboxMessageIdentifier> ids) {
        return operator.skip(ids);
    }

    @Override
    public int apply(OutboxOperator operator, MessageFilter filter) {
        return operator.skip(filter);
    }
}
