package dev.windlass;

import dev.windlass.base.Deadline;
import dev.windlass.base.Feature;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.TransactionalWork;
import dev.windlass.base.WindlassException;
import dev.windlass.health.Health;
import dev.windlass.inbox.Inbox;
import dev.windlass.internal.support.Require;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reliable background work on the database behind a {@link DataSource}.
 *
 * <pre>{@code
 * var windlass = Windlass.on(dataSource)
 *         .outboxHandler("order.created", message -> mailer.send(message.payload()))
 *         .start();
 * windlass.outbox().enqueue(connection, OutboxEntry.of("order.created", json));   // the caller commits
 * }</pre>
 *
 * <p>Thread-safe. Close it when the program ends: handlers get time to finish, and what they cannot finish is returned for
 * others. A database that is away when it starts, or goes away later, is waited for.
 */
public final class Windlass implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Windlass.class);

    private final FeatureNodes nodes;
    private final Starting starting;
    private final NodeHealth health;
    private final Duration shutdownGrace;
    private volatile @Nullable Deadline graceEnds;
    private volatile @Nullable Thread closer;
    private final boolean closeOnShutdown;
    private final Thread hook = new Thread(this::close, "windlass-shutdown");
    private final AtomicBoolean closed = new AtomicBoolean();

    Windlass(WindlassBuilder builder) {
        nodes = new FeatureNodes(builder);
        starting = new Starting(builder, nodes);
        health = new NodeHealth(builder, nodes, starting);
        shutdownGrace = builder.options.shutdownGrace();
        closeOnShutdown = builder.closeOnShutdown;
        new PoolCheck(builder, nodes).run();
    }

    /** Begins to describe a Windlass on this database. */
    public static WindlassBuilder on(DataSource dataSource) {
        return new WindlassBuilder(Require.present("data source", dataSource));
    }

    /** The features that were asked for; others are an {@link IllegalStateException}. */
    public Outbox outbox() {
        return nodes.its(Feature.OUTBOX, nodes.outbox).outbox();
    }

    /** What waits for several messages; a part of the outbox. */
    public Joins joins() {
        return nodes.its(Feature.OUTBOX, nodes.outbox).joins();
    }

    public Leases leases() {
        return nodes.its(Feature.LEASES, nodes.leases).leases();
    }

    public Inbox inbox() {
        return nodes.its(Feature.INBOX, nodes.inbox).inbox();
    }

    public WorkQueue workQueue() {
        return nodes.its(Feature.WORK, nodes.work).queue();
    }

    public Timers timers() {
        return nodes.its(Feature.SCHEDULE, nodes.schedule).timers();
    }

    public Jobs jobs() {
        return nodes.its(Feature.SCHEDULE, nodes.schedule).jobs();
    }

    /** Whether this node and its database are well. */
    public Health health() {
        return health;
    }

    /**
     * Runs work in a transaction, commits it, and looks at once for what it enqueued. If it throws, everything is rolled back.
     *
     * <p>What this thread writes through this Windlass meanwhile is a part of the transaction, with or without naming the
     * connection. So is another call of this method inside of the work: it is committed with the one around it, and rolled
     * back alone if it throws. A data source that follows a transaction manager gives the connection of the transaction that
     * is open; then this is a part of that one, and its manager commits it.
     *
     * @throws X what the work throws, and nothing else that is checked
     * @throws WindlassException if the transaction cannot be begun or committed
     */
    public <T extends @Nullable Object, X extends Exception> T inTransaction(TransactionalWork<T, X> work) throws X {
        return nodes.transactions.run(work);
    }

    /**
     * Tells this node that work has been committed. Nobody has to call it: a commit of the caller's own is announced through the
     * database, which takes about a millisecond longer. For transaction managers that can run something after a commit.
     */
    public void wakeUp() {
        nodes.committed();
    }

    /** One that will never start is closed. */
    Windlass start() {
        try {
            starting.run();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        if (closeOnShutdown) {
            Runtime.getRuntime().addShutdownHook(hook);
        }
        return this;
    }

    /** Whether the schema has been found and background work, if there is any, has begun. */
    public boolean isRunning() {
        return starting.isRunning();
    }

    /**
     * Stops claiming, lets handlers and leaders finish within the grace period, writes outcomes, returns the rest to ready, and
     * releases leases. It takes no more than about two seconds longer than the grace period, also when the database does not
     * answer; what could not be written is logged. Closing twice does nothing. An interrupt that arrives meanwhile ends the grace
     * period.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            boolean interrupted = Thread.interrupted();
            closer = Thread.currentThread();
            try {
                interrupted |= stop();
            } finally {
                closer = null;
                nodes.closeWorkers();
                removeHook();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private boolean stop() {
        boolean begun = starting.end();
        Closing closing = new Closing(nodes, starting.loop());
        boolean interrupted = closing.run(graceEnds == null ? inGrace() : graceEnds);
        if (begun) {
            log.info("[{}] stopped{}", nodes.database.name(), closing.told());
        }
        return interrupted;
    }

    /** Nothing refers to a node that has been closed. */
    private void removeHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            log.debug("[{}] the process is ending", nodes.database.name());
        }
    }

    /** Takes nothing more, and the grace period begins. Waits for nothing; {@link #close} does. */
    void stopClaiming() {
        graceEnds = inGrace();
        nodes.stopClaiming();
    }

    /** Ends the grace period of a close that is under way, or is still to come. */
    void endGrace() {
        graceEnds = Deadline.in(MonotonicClock.system(), Duration.ZERO);
        Thread closing = closer;
        if (closing != null) {
            closing.interrupt();
        }
    }

    private Deadline inGrace() {
        return Deadline.in(MonotonicClock.system(), shutdownGrace);
    }
}
