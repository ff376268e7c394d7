package dev.windlass.internal.outbox;

import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.event.Events;

/** Fails when one kind of event is told, to break what happens just then. */
record BrokenEvents(Class<? extends WindlassEvent> kind, Runnable failure) implements Events {
    @Override
    public boolean areHeard() {
        return true;
    }

    @Override
    public void tell(WindlassEvent event) {
        if (kind.isInstance(event)) {
            failure.run();
        }
    }
}
