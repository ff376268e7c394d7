package dev.windlass.internal.dispatch;

import dev.windlass.base.Cancellation;
import dev.windlass.internal.queue.Note;

/** An attempt as its handler sees it. */
public interface Running extends Cancellation {

    /** Keeps what the handler tells, in the place of what it told before; it is written with the next renewal or the outcome. */
    void note(Note note);

    /** The handler's own transaction has ended the message as done, and is committed: nothing is left to be written. */
    void wasEnded();
}
