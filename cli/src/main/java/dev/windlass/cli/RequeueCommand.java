package dev.windlass.cli;

import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.util.Collection;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Gives dead letters another chance. */
@Command(name = "requeue", description = "Make dead letters ready again.")
final class RequeueCommand implements Callable<Integer>, DeadLetterChange {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private DeadLetterChoice choice = new DeadLetterChoice();

    @Option(
            names = "--keep-attempts",
            description = "Do not start again from the first attempt; what had used them up gets one more.")
    private boolean keepAttempts;

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access);
        return access.with(session -> choice.change(this, session));
    }

    @Override
    public String verb() {
        return "requeue";
    }

    @Override
    public String participle() {
        return "requeued";
    }

    @Override
    public String misfits() {
        return "unknown, not failed, or erased";
    }

    @Override
    public boolean fits(ListedMessage letter) {
        return !letter.isErased();
    }

    @Override
    public int apply(OutboxOperator operator, Collection<OutboxMessageIdentifier> ids) {
        return operator.requeue(ids, attempts());
    }

    @Override
    public int apply(OutboxOperator operator, MessageFilter filter) {
        return operator.requeue(filter, attempts());
    }

    private Attempts attempts() {
        return keepAttempts ? Attempts.KEEP : Attempts.RESET;
    }
}
