package dev.windlass.internal.lease;

import dev.windlass.base.Deadline;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Deletes leases that nobody has held for long, once in an hour; only in nodes that use leases. */
final class LeaseCleaner {
    private static final Duration PERIOD = Duration.ofHours(1);
    private static final Duration PAUSE_BETWEEN_BATCHES = Duration.ofMillis(100);
    private static final Duration ANSWER = Duration.ofMinutes(1);
    private static final int BATCH = 500;

    private final Database database;
    private final LeaseStore store;
    private final Duration retention;
    private final Loop loop;
    private volatile boolean started;

    LeaseCleaner(Database database, LeaseStore store, Workers workers, Duration retention) {
        this.database = database.answeringWithin(ANSWER);
        this.store = store;
        this.retention = retention;
        this.loop = new Loop("[" + database.name() + "] cleaning leases", workers, this::clean);
    }

    void start() {
        if (!started) {
            started = true;
            loop.start();
        }
    }

    /** One batch: the loop goes on as long as there is something, and leaves the database to others in between. */
    private Duration clean() throws SQLException {
        int cleaned = database.once(connection -> store.clean(connection, retention, BATCH));
        return cleaned == 0 ? PERIOD.plusSeconds(ThreadLocalRandom.current().nextInt(600)) : PAUSE_BETWEEN_BATCHES;
    }

    Loop loop() {
        return loop;
    }

    void askToStop() {
        loop.askToStop();
    }

    /** Ends it, and with it a call that hangs. */
    void finish(Deadline deadline) {
        loop.awaitEnd(deadline);
        database.end();
    }
}
