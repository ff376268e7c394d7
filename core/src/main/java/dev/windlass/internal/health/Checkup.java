package dev.windlass.internal.health;

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
    private @Nullable HealthReport last;
    private long lastAt;

    public Checkup(
            List<NamedCheck> checks, HealthOptions options, Workers workers, Function<Throwable, String> inWords) {
        this.checks = checks.stream().map(check -> new CheckRun(check, inWords)).toList();
        this.options = options;
        this.workers = workers;
    }

    public HealthReport report() {
        return report(System.nanoTime());
    }

    /** What was found while this one waited for its turn is its answer too: else a hundred would wait for a hundred time-outs. */
    private synchronized HealthReport report(long asked) {
        HealthReport known = last;
        if (known != null
                && (lastAt - asked > 0
                        || System.nanoTime() - lastAt < options.cacheFor().toNanos())) {
            return known;
        }
        HealthReport found = ask();
        if (!Thread.currentThread().isInterrupted()) { // else not all have had their time to answer
            last = found;
            lastAt = System.nanoTime();
        }
        return found;
    }

    /** An interrupt ends the waiting, not the answer: whoever has not answered by then is told as such. */
    private HealthReport ask() {
        long start = System.nanoTime();
        long until = start + options.timeout().toNanos();
        checks.forEach(check -> check.start(workers::runLoop));
        List<HealthReport.Entry> entries = new ArrayList<>();
        boolean interrupted = false;
        for (CheckRun check : checks) {
            while (entries.size() < checks.size()) {
                try {
                    entries.add(check.await(until));
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                    until = System.nanoTime();
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return HealthReport.of(entries, Duration.ofNanos(System.nanoTime() - start));
    }
}
