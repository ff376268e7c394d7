package dev.windlass.benchmarks.scenario;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.benchmarks.system.Tables;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** How fast a Windlass handles a backlog of a queue: from the first handler until the database says that nothing is left. */
final class WindlassDrain {
    private static final int MINUTES = 15;
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

    private final int messages;
    private final CountDownLatch all;
    private final AtomicLong first = new AtomicLong();

    WindlassDrain(int messages) {
        this.messages = messages;
        this.all = new CountDownLatch(messages);
    }

    /** To be called by the handler. */
    void handled() {
        first.compareAndSet(0, System.nanoTime());
        all.countDown();
    }

    /**
     * Messages a second.
     *
     * @param builder with the handlers
     * @param nothingLeft a query
     */
    double rate(WindlassBuilder builder, Tables tables, String nothingLeft) throws Exception {
        try (Windlass windlass = builder.start()) {
            if (!windlass.isRunning() || !all.await(MINUTES, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected " + messages + " messages handled within " + MINUTES
                        + " minutes, got " + (messages - all.getCount()));
            }
            while (!tables.isTrue(nothingLeft)) {
                LockSupport.parkNanos(PAUSE);
            }
            return messages / ((System.nanoTime() - first.get()) / 1e9);
        }
    }
}
