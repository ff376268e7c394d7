package dev.windlass.internal.health;

import dev.windlass.base.MonotonicClock;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Some checks that are done together, whose answer is given again for a while. Those who ask at once share one. */
public final class Checkup {
    private final List<CheckRun> checks;
    private final HealthOptions options;
    private final Workers workers;
    private final MonotonicClock clock;
    private @Nullable HealthReport last;
    private long lastAt;

    public Checkup(
            List<NamedCheck> checks, HealthOptions options, Workers workers, Function<Throwable, String> inWords) {
        this(checks, options, workers, inWords, MonotonicClock.system());
    }

    /**
     * @param clock tells when the time of those who ask is over
     */
    Checkup(
            List<NamedCheck> checks,
            HealthOptions options,
            Workers workers,
            Function<Throwable, String> inWords,
            MonotonicClock clock) {
        this.clock = clock;
        this.checks = checks.stream().map(check -> new CheckRun(check, inWords)).toList();
        this.options = options;
        this.workers = workers;
    }

    public HealthReport report() {
        return report(clock.nanos());
    }

    /** What was found while this one waited for its turn is its answer too: else a hundred would wait for a hundred time-outs. */
    private synchronized HealthReport report(long asked) {
        HealthReport known = last;
        if (known != null
                && (lastAt - asked > 0
                        || clock.nanos() - lastAt < options.cacheFor().toNanos())) {
            return known;
        }
        HealthReport found = ask(asked);
        if (!Thread.currentThread().isInterrupted()) { // else not all have had their time to answer
            last = found;
            lastAt = clock.nanos();
        }
        return found;
    }

    /**
     * An interrupt ends the waiting, not the answer: whoever has not answered by then is told as such.
     *
     * @param asked since when somebody waits for the answer
     */
    private HealthReport ask(long asked) {
        long start = System.nanoTime();
        long until = asked + options.timeout().toNanos();
        checks.forEach(check -> check.start(workers::runLoop));
        List<HealthReport.Entry> entries = new ArrayList<>();
        boolean interrupted = false;
        for (CheckRun check : checks) {
            while (entries.size() < checks.size()) {
                try {
                    entries.add(check.await(Duration.ofNanos(Math.max(0, until - clock.nanos()))));
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                    until = clock.nanos();
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return HealthReport.of(entries, Duration.ofNanos(System.nanoTime() - start));
    }
}
