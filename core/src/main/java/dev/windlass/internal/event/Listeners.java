package dev.windlass.internal.event;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Those who hear what happens, each by a line of its own. */
public final class Listeners implements Events {
    public static final Listeners NONE = new Listeners(List.of());

    /** For all together: they end side by side. */
    private static final Duration LAST_EVENTS = Duration.ofSeconds(1);

    private final ListenerLine[] lines;

    private Listeners(List<ListenerLine> lines) {
        this.lines = lines.toArray(ListenerLine[]::new);
    }

    public static Listeners to(List<? extends WindlassListener> listeners) {
        return to(listeners, MonotonicClock.system());
    }

    /**
     * @param clock measures how long an event takes
     */
    static Listeners to(List<? extends WindlassListener> listeners, MonotonicClock clock) {
        return listeners.isEmpty()
                ? NONE
                : new Listeners(listeners.stream()
                        .map(listener -> new ListenerLine(listener, clock))
                        .toList());
    }

    /** These and those. Whoever made them closes them. */
    public Listeners and(Listeners others) {
        return others.lines.length == 0
                ? this
                : new Listeners(
                        Stream.of(lines, others.lines).flatMap(Stream::of).toList());
    }

    @Override
    public boolean areHeard() {
        return lines.length > 0;
    }

    @Override
    public void tell(WindlassEvent event) {
        for (ListenerLine line : lines) {
            line.add(event);
        }
    }

    /** Tells what is still in line, for a moment at most, and then no more. */
    public void close() {
        Deadline deadline = Deadline.in(MonotonicClock.system(), LAST_EVENTS);
        for (ListenerLine line : lines) {
            line.close();
        }
        for (ListenerLine line : lines) {
            line.awaitEnd(deadline);
        }
    }
}
