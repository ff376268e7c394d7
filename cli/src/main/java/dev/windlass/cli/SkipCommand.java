package dev.windlass.cli;

import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Frees ordering keys that failed messages block. */
@Command(
        name = "skip",
        description = "Let what waits behind failed messages of an ordering key go on; they stay as they are.")
final class SkipCommand implements Callable<Integer> {
    private final OutboxQueue queue = new OutboxQueue();

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private FailedChoice choice = new FailedChoice();

    @Override
    public Integer call() throws Exception {
        choice.requireOne(access, queue);
        return access.with(this::skip);
    }

    private int skip(OutboxSession session) {
        OutboxOperator operator = queue.operator(session.windlass(), choice.actor());
        FailedChange<OutboxMessageIdentifier, ListedMessage> change = new FailedChange<>(
                "skip",
                "skipped",
                "unknown, not failed, or in nobody's way",
                ListedMessage::blocksKey,
                operator::skip,
                operator::skip);
        return choice.change(change, queue, session);
    }
}
