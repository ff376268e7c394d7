package dev.windlass.cli;

import dev.windlass.schedule.TimerIdentifier;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Messages, timers or runs that are named one by one; a timer also by its key. */
final class Names {

    @Parameters(paramLabel = "ID", arity = "0..*", description = "The ${bundle:queue.nouns}.")
    private List<String> given = List.of();

    @Mixin
    private TimerKey key = new TimerKey();

    void require(OutboxAccess access, WorkQueue<?, ?> queue) {
        if (queue instanceof TimerQueue) {
            key.requireOneWay(access, !given.isEmpty());
        } else if (given.isEmpty()) {
            throw access.wrongUse("expected " + queue.names() + "..., got nothing");
        }
        read(given, queue, access);
    }

    /** Each once, and in one order: so two commands that change some of them in one transaction never deadlock. */
    <I> List<I> in(OutboxSession session, WorkQueue<I, ?> queue) {
        if (key.isGiven()) {
            TimerIdentifier timer = key.in(session).id();
            return queue.read(List.of(timer.toString()));
        }
        return queue.read(given).stream()
                .sorted(Comparator.comparing(Object::toString))
                .toList();
    }

    /** Not left to picocli, which says of a bad one among several only that it did not expect it. */
    static void read(List<String> given, WorkQueue<?, ?> queue, OutboxAccess access) {
        if (!given.isEmpty()) {
            try {
                queue.read(given);
            } catch (TypeConversionException e) {
                throw access.wrongUse(String.valueOf(e.getMessage()));
            }
        }
    }
}
