package dev.windlass.internal.health;

import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthFinding;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.support.InWords;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Whether the loops of a node go on.
 *
 * <p>Every call of a loop is given up after a minute, and no step makes more than a few. What may hold one for longer is a data source without
 * a time limit: then it depends on the database whether a restart would help. It would, if the database answers others all the while; it would
 * not, if it answers nobody.
 */
public final class LoopsCheck implements HealthCheck {
    private static final int FAILS_THROUGHOUT = 5;
    private static final int MOST_NAMED = 5;

    private final Supplier<List<Loop>> loops;
    private final Database database;
    private final Duration hangs;

    /**
     * @param hangs after which time a step hangs
     */
    public LoopsCheck(Supplier<List<Loop>> loops, Database database, Duration hangs) {
        this.loops = loops;
        this.database = database;
        this.hangs = hangs;
    }

    @Override
    public HealthFinding check() {
        List<Loop.State> states = select(loops.get().stream().map(Loop::state).toList(), Loop.State::started);
        List<Loop.State> hanging = select(states, state -> state.stepFor().compareTo(hangs) > 0);
        List<Loop.State> alone =
                select(hanging, state -> database.answeredSince(state.began()).compareTo(hangs) > 0);
        List<Loop.State> failing = select(states, state -> state.failures() >= FAILS_THROUGHOUT);
        if (!alone.isEmpty()) {
            return HealthFinding.unhealthy("for more than " + InWords.of(hangs)
                    + ", while the database answers others: " + names(alone) + "; a restart may help");
        }
        if (!hanging.isEmpty()) {
            return HealthFinding.degraded("waiting for a database that does not answer: " + names(hanging));
        }
        if (!failing.isEmpty()) {
            return HealthFinding.degraded("fails again and again, and the log tells why: " + names(failing));
        }
        return HealthFinding.healthy(
                states.isEmpty()
                        ? "nothing is done in the background: this node only writes, or has not started yet"
                        : states.size() + " loops go on");
    }

    private static List<Loop.State> select(List<Loop.State> states, Predicate<Loop.State> which) {
        return states.stream().filter(which).toList();
    }

    private static String names(List<Loop.State> states) {
        return states.stream().map(Loop.State::name).limit(MOST_NAMED).collect(Collectors.joining(", "));
    }
}
