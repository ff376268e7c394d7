package dev.windlass.internal.event;

import dev.windlass.event.WindlassEvent;

/**
 * Where to tell what happens. To tell is cheap, waits for nobody and never fails.
 *
 * <p>Thread-safe.
 */
public interface Events {
    Events NONE = new Events() {
        @Override
        public boolean areHeard() {
            return false;
        }

        @Override
        public void tell(WindlassEvent event) {
            // Nobody listens.
        }
    };

    /** Whether anybody listens: who would have to make many events asks first. */
    boolean areHeard();

    void tell(WindlassEvent event);
}
