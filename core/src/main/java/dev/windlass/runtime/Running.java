package dev.windlass.runtime;

import dev.windlass.Cancellation;

/** An attempt as its handler sees it. */
public interface Running extends Cancellation {

    /** Keeps what the handler tells, in the place of what it told before; it is written with the next renewal or the outcome. */
    void note(Note note);
}
