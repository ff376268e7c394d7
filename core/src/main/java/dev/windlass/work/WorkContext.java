package dev.windlass.work;

import dev.windlass.base.Cancellation;

/** What a handler is told of its attempt, and tells of it. It is cancelled, too, when somebody cancels the item. */
public interface WorkContext extends Cancellation {

    /**
     * Tells how far the work has come. It is stored with the next renewal of the lease, every third of it, and at the end; so it may be
     * called often.
     *
     * @param percent from 0 to 100
     */
    void progress(int percent);

    /** The same, with a text of which 2,048 characters are kept. */
    void progress(int percent, String text);

    /** What the work came to. It is stored when the item is completed. The last one told counts. */
    void result(String result);
}
