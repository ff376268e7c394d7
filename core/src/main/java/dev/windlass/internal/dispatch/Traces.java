package dev.windlass.internal.dispatch;

import dev.windlass.base.MonotonicClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Which stack traces are worth their lines: one a minute of each kind of exception in each topic. */
final class Traces {
    private static final long EVERY_NANOS = Duration.ofMinutes(1).toNanos();
    private static final int MOST_KINDS = 1000;

    private final MonotonicClock clock;
    private final Map<String, Long> last = new ConcurrentHashMap<>();

    Traces(MonotonicClock clock) {
        this.clock = clock;
    }

    boolean isDue(String topic, Throwable thrown) {
        long now = clock.nanos();
        if (last.size() >= MOST_KINDS) {
            last.clear();
        }
        boolean[] due = {false};
        last.compute(topic + "\n" + thrown.getClass().getName(), (kind, before) -> {
            due[0] = before == null || now - before >= EVERY_NANOS;
            return due[0] ? now : before;
        });
        return due[0];
    }
}
