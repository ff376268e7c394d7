package dev.windlass.internal.loop;

import java.time.Duration;
import java.util.List;

/**
 * Things to be done when somebody asks for it, or now and then. Each round does a batch of each, and the next one follows at once if
 * something was found; then there is a pause.
 */
public final class Chores {
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final List<Chore> all;
    private final boolean onDemand;
    private final Duration shortest;
    private final Duration longest;
    private final Loop loop;
    private List<Chore> unfinished;
    private Duration pause;
    private boolean found;

    private Chores(
            String name, Workers workers, List<Chore> all, boolean onDemand, Duration shortest, Duration longest) {
        this.all = List.copyOf(all);
        this.onDemand = onDemand;
        this.shortest = shortest;
        this.longest = longest;
        this.unfinished = this.all;
        this.pause = shortest;
        this.loop = new Loop(name, workers, this::round);
    }

    /** Such as are done when somebody asks for it. The first of them come first again in each round. */
    public static Chores onDemand(String name, Workers workers, List<Chore> all) {
        return new Chores(name, workers, all, true, Loop.PARKED, Loop.PARKED);
    }

    /** Such as are done now and then, and less often while there is nothing to do. One that is done waits for the others. */
    public static Chores nowAndThen(
            String name, Workers workers, List<Chore> all, Duration shortestPause, Duration longestPause) {
        return new Chores(name, workers, all, false, shortestPause, longestPause);
    }

    public void start() {
        loop.start(onDemand ? Loop.PARKED : Duration.ZERO);
    }

    /** Asks for a round. */
    public void wake() {
        loop.wake();
    }

    private Duration round() {
        List<Chore> left = unfinished.stream().filter(Chore::run).toList();
        if (!left.isEmpty()) {
            found = true;
            unfinished = onDemand ? all : left;
            return Duration.ZERO;
        }
        unfinished = all;
        pause = found ? shortest : min(pause.multipliedBy(2), longest);
        found = false;
        return onDemand && all.stream().anyMatch(Chore::hasFailed) ? RETRY : pause;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    public Loop loop() {
        return loop;
    }
}
