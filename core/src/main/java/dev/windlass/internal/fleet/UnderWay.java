package dev.windlass.internal.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What is being closed, and how much is being opened: whoever ends the threads has to wait for that. A store may be closed twice at a
 * time, as it is described and as it was described before.
 *
 * <p>Thread-safe.
 */
final class UnderWay<T> {
    private final List<T> closing = new ArrayList<>();
    private int opens;

    synchronized void closes(T one) {
        closing.add(one);
    }

    synchronized void closed(T one) {
        closing.removeIf(each -> each == one);
        notifyAll();
    }

    synchronized List<T> closing() {
        return List.copyOf(closing);
    }

    synchronized void opens() {
        opens++;
    }

    synchronized void opened() {
        opens--;
        notifyAll();
    }

    /** Returns false if somebody interrupts it. */
    boolean awaitOpens(Duration patience) {
        return await(() -> opens == 0, patience);
    }

    /** The same. */
    boolean awaitClosings(Duration patience) {
        return await(closing::isEmpty, patience);
    }

    private synchronized boolean await(BooleanSupplier done, Duration patience) {
        long until = System.nanoTime() + patience.toNanos();
        try {
            for (long left; !done.getAsBoolean() && (left = until - System.nanoTime()) > 0; ) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }
}
