package dev.windlass.internal.loop;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Things to be done when somebody asks for it, or now and then. Each round does a batch of each, and the next one follows at once if
 * something was found; then there is a pause.
 */
public final class Chores {
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final List<Chore> all;
    private final Duration first;
    private final boolean repeatsAll;
    private final UnaryOperator<Duration> pauseAfter;
    private final Loop loop;
    private List<Chore> unfinished;
    private Duration pause;

    private Chores(
            String name,
            Workers workers,
            List<Chore> all,
            Duration first,
            boolean repeatsAll,
            UnaryOperator<Duration> pauseAfter) {
        this.all = List.copyOf(all);
        this.first = first;
        this.repeatsAll = repeatsAll;
        this.pauseAfter = pauseAfter;
        this.unfinished = this.all;
        this.pause = first;
        this.loop = new Loop(name, workers, this::round);
    }

    /**
     * Such as are done when somebody asks for it. The first of them come first again in each round.
     *
     * @param again after which time without being asked
     */
    public static Chores onDemand(String name, Workers workers, List<Chore> all, Supplier<Duration> again) {
        return new Chores(name, workers, all, Loop.PARKED, true, before -> again.get());
    }

    /** Such as are done now and then, and less often while there is nothing to do. One that is done waits for the others. */
    static Chores nowAndThen(
            String name, Workers workers, List<Chore> all, Duration first, Duration shortest, Duration longest) {
        return new Chores(
                name, workers, all, first, false, before -> max(shortest, min(before.multipliedBy(2), longest)));
    }

    public void start() {
        loop.start(first);
    }

    /** Asks for a round. */
    public void wake() {
        loop.wake();
    }

    private Duration round() {
        List<Chore> left = unfinished.stream().filter(Chore::run).toList();
        if (!left.isEmpty()) {
            pause = Duration.ZERO;
            unfinished = repeatsAll ? all : left;
            return pause;
        }
        unfinished = all;
        pause = pauseAfter.apply(pause);
        return repeatsAll && haveFailed() ? min(RETRY, pause) : pause;
    }

    /** Whether one of them is in trouble: then all are tried again soon, without being asked. */
    public boolean haveFailed() {
        return all.stream().anyMatch(Chore::hasFailed);
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    public Loop loop() {
        return loop;
    }
}
