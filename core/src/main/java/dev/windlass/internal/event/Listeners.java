package dev.windlass.internal.event;

import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import java.util.List;
import java.util.stream.Stream;

/** Those who hear what happens, each by a line of its own. */
public final class Listeners implements Events {
    public static final Listeners NONE = new Listeners(List.of());

    private final ListenerLine[] lines;

    private Listeners(List<ListenerLine> lines) {
        this.lines = lines.toArray(ListenerLine[]::new);
    }

    public static Listeners to(List<? extends WindlassListener> listeners) {
        return listeners.isEmpty()
                ? NONE
                : new Listeners(listeners.stream().map(ListenerLine::new).toList());
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
        for (ListenerLine line : lines) {
            line.close();
        }
    }
}
