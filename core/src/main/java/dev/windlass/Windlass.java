package dev.windlass;

import dev.windlass.base.Deadline;
import dev.windlass.base.Feature;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.TransactionalWork;
import dev.windlass.base.WindlassException;
import dev.windlass.health.Health;
import dev.windlass.health.QueueMeasure;
import dev.windlass.inbox.Inbox;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.Require;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.work.WorkQueue;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
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

    private final WindlassBuilder builder;
    private final Duration shutdownGrace;
    private final Object lifeCycle = new Object();
    private volatile Life life;
    private volatile @Nullable Thread closer;

    /** From one start to the end after it. What has ended cannot be woken up; who starts again gets another one. */
    private final class Life {
        final FeatureNodes nodes = new FeatureNodes(builder);
        final Starting starting = new Starting(builder, nodes);
        final NodeHealth health = new NodeHealth(builder, nodes, starting);
        final Thread hook = new Thread(Windlass.this::close, "windlass-shutdown");
        final AtomicBoolean closed = new AtomicBoolean();
        final AtomicBoolean started = new AtomicBoolean();
        volatile @Nullable Deadline graceEnds;
    }

    Windlass(WindlassBuilder builder) {
        this.builder = builder;
        shutdownGrace = builder.options.shutdownGrace();
        life = new Life();
        new PoolCheck(builder, life.nodes).run();
    }

    /** Begins to describe a Windlass on this database. */
    public static WindlassBuilder on(DataSource dataSource) {
        return new WindlassBuilder(Require.present("data source", dataSource));
    }

    /** The features that were asked for; others are an {@link IllegalStateException}. */
    public Outbox outbox() {
        return its(Feature.OUTBOX, nodes -> nodes.outbox).outbox();
    }

    /** What waits for several messages; a part of the outbox. */
    public Joins joins() {
        return its(Feature.OUTBOX, nodes -> nodes.outbox).joins();
    }

    public Leases leases() {
        return its(Feature.LEASES, nodes -> nodes.leases).leases();
    }

    public Inbox inbox() {
        return its(Feature.INBOX, nodes -> nodes.inbox).inbox();
    }

    public WorkQueue workQueue() {
        return its(Feature.WORK, nodes -> nodes.work).queue();
    }

    public Timers timers() {
        return its(Feature.SCHEDULE, nodes -> nodes.schedule).timers();
    }

    public Jobs jobs() {
        return its(Feature.SCHEDULE, nodes -> nodes.schedule).jobs();
    }

    private <N> N its(Feature feature, Function<FeatureNodes, N> part) {
        FeatureNodes nodes = life.nodes;
        return nodes.its(feature, part.apply(nodes));
    }

    /** Whether this node and its database are well. */
    public Health health() {
        return life.health;
    }

    /**
     * How much there is in each queue, as health checks count it: no further than one more than what they call unhealthy, and not again
     * within some seconds.
     *
     * @throws WindlassException if the database does not answer
     */
    public List<QueueMeasure> queues() {
        Life now = life;
        try {
            return now.health.queues();
        } catch (SQLException e) {
            throw now.nodes.database.failure("measure the queues", e);
        }
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
        return life.nodes.transactions.run(work);
    }

    /**
     * Tells this node that work has been committed. Nobody has to call it: a commit of the caller's own is announced through the
     * database, which takes about a millisecond longer. For transaction managers that can run something after a commit.
     */
    public void wakeUp() {
        life.nodes.committed();
    }

    /**
     * Checks the schema, and begins to work; nothing, if it has begun. One that was closed begins anew: what was asked for then goes on.
     * Features that were taken from it before still write; those that wait or work (claims, leases, leaders) have to be taken again.
     *
     * @throws WindlassException if the schema is missing or does not fit; then it is closed
     */
    public Windlass start() {
        synchronized (lifeCycle) {
            if (life.closed.get()) {
                life = new Life();
            }
            if (life.started.compareAndSet(false, true)) {
                begin(life);
            }
        }
        return this;
    }

    private void begin(Life begun) {
        try {
            begun.starting.run();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        if (builder.closeOnShutdown) {
            Runtime.getRuntime().addShutdownHook(begun.hook);
        }
    }

    /** Whether the schema has been found and background work, if there is any, has begun. */
    public boolean isRunning() {
        return life.starting.isRunning();
    }

    /**
     * Stops claiming, lets handlers and leaders finish within the grace period, writes outcomes, returns the rest to ready, and
     * releases leases. It takes no more than about two seconds longer than the grace period, also when the database does not
     * answer; what could not be written is logged. Closing twice does nothing. An interrupt that arrives meanwhile ends the grace
     * period. Messages can still be written, for others to handle.
     */
    @Override
    public void close() {
        Life ending = life;
        if (ending.closed.compareAndSet(false, true)) {
            boolean interrupted = Thread.interrupted();
            closer = Thread.currentThread();
            try {
                interrupted |= end(ending);
            } finally {
                closer = null;
                ending.nodes.closeWorkers();
                removeHook(ending);
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private boolean end(Life ending) {
        boolean begun = ending.starting.end();
        int running = ending.nodes.dispatchers().stream()
                .mapToInt(Dispatcher::running)
                .sum();
        if (running > 0) {
            log.info(
                    "[{}] stopping; {} handlers may go on for {}",
                    ending.nodes.database.name(),
                    running,
                    InWords.of(shutdownGrace));
        }
        Closing closing = new Closing(ending.nodes, ending.starting.loop());
        Deadline graceEnds = ending.graceEnds;
        boolean interrupted = closing.run(graceEnds == null ? inGrace() : graceEnds);
        if (begun) {
            log.info("[{}] stopped{}", ending.nodes.database.name(), closing.told());
        }
        return interrupted;
    }

    /** Nothing refers to a node that has been closed. */
    private static void removeHook(Life ending) {
        try {
            Runtime.getRuntime().removeShutdownHook(ending.hook);
        } catch (IllegalStateException e) {
            log.debug("[{}] the process is ending", ending.nodes.database.name());
        }
    }

    NodeHealth nodeHealth() {
        return life.health;
    }

    /** Whether the last that was heard of the database is that it is away. */
    boolean isAway() {
        return life.nodes.database.isAway();
    }

    /** Whether its schema has been found, and nothing else was heard since then. */
    boolean answers() {
        return isRunning() && !isAway();
    }

    /** Takes nothing more, and the grace period begins. Waits for nothing; {@link #close} does. */
    void stopClaiming() {
        life.graceEnds = inGrace();
        life.nodes.stopClaiming();
    }

    /** Ends the grace period of a close that is under way, or is still to come. */
    void endGrace() {
        life.graceEnds = Deadline.in(MonotonicClock.system(), Duration.ZERO);
        Thread closing = closer;
        if (closing != null) {
            closing.interrupt();
        }
    }

    private Deadline inGrace() {
        return Deadline.in(MonotonicClock.system(), shutdownGrace);
    }
}
