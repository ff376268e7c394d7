package dev.windlass.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts that are started one after the other and closed in the opposite order, also when the order to stop comes while one of
 * them is starting: that start is waited for, and no further one begins. Thread-safe.
 */
final class Lifetime implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Lifetime.class);

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final CountDownLatch ending = new CountDownLatch(1);

    /** Thrown by {@link #start} after the end has begun. */
    static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    synchronized <T extends AutoCloseable> T start(Callable<T> starter) throws Exception {
        if (isEnding()) {
            throw new Ended();
        }
        T part = starter.call();
        parts.push(part);
        return part;
    }

    boolean isEnding() {
        return ending.getCount() == 0;
    }

    /** Waits for the end to begin. Returns whether it has. */
    boolean awaitEnding(long millis) throws InterruptedException {
        return ending.await(millis, TimeUnit.MILLISECONDS);
    }

    /** Closes everything, the last part first. A second caller waits until the first is through. */
    @Override
    public void close() {
        ending.countDown();
        closeParts();
    }

    private synchronized void closeParts() {
        while (!parts.isEmpty()) {
            AutoCloseable part = parts.pop();
            try {
                part.close();
            } catch (Exception e) {
                log.warn("{} did not close as it should", part.getClass().getSimpleName(), CommandFailure.safe(e));
            }
        }
    }
}
