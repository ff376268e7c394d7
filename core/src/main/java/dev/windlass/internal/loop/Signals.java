package dev.windlass.internal.loop;

import dev.windlass.base.Deadline;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Dialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What other processes tell this one through the database, passed on to those whom it concerns: one for all features of a node, on
 * its {@link KeptConnection}.
 *
 * <p>Proves itself with a signal to itself when it connects: behind a pooler that shares connections between transactions, LISTEN
 * succeeds and nothing ever arrives.
 */
public final class Signals {
    private static final Logger log = LoggerFactory.getLogger(Signals.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final long PROOF_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration RETRY_DEAF = Duration.ofMinutes(5);

    private final Database database;
    private final KeptConnection kept;
    private final boolean enabled;
    private final Consumer<Hearing> hears;
    private volatile Hearing hearing = Hearing.RESTS;
    private volatile boolean awake;
    private volatile boolean stopped;
    private final Map<String, Ear> ears = new ConcurrentHashMap<>();
    private final Loop loop;
    // The loop's own.
    private @Nullable Subscribed subscribed;
    private boolean deaf;

    /** Who wants to know what is said on a channel. It is told, too, when something may have been missed. */
    @FunctionalInterface
    public interface Ear {
        void heard(Signal signal);
    }

    /** What of the signals arrives. */
    public enum Hearing {
        ALL,
        /** Nothing, though it should: it is good to look often. */
        NOTHING,
        /** Nothing, since nobody listens as long as there is little to do. */
        RESTS
    }

    /** What is known of one connection. */
    private static final class Subscribed {
        final Connection connection;
        final Dialect.Subscription subscription;
        final Set<String> channels = new HashSet<>();
        final String proof = UUID.randomUUID().toString();
        final long since = System.nanoTime();
        boolean proved;
        long lastCheck = since;

        Subscribed(Connection connection, Dialect.Subscription subscription) {
            this.connection = connection;
            this.subscription = subscription;
        }
    }

    private record Heard(String channel, Signal signal) {}

    /**
     * @param enabled whether to listen at all
     * @param awake whether from the beginning on
     * @param hears told when something else arrives than before
     */
    Signals(
            Database database,
            KeptConnection kept,
            Workers workers,
            boolean enabled,
            boolean awake,
            Consumer<Hearing> hears) {
        this.hears = hears;
        this.awake = awake;
        this.database = database;
        this.kept = kept;
        this.enabled = enabled;
        this.loop = new Loop("[" + database.name() + "] listening for wake-ups", workers, this::hear);
    }

    /** From now on this one hears what is said on the channel. */
    public void subscribe(String channel, Ear ear) {
        ears.put(channel, ear);
        if (awake) {
            begin();
        }
    }

    /** Whether what is sent arrives. */
    public boolean areHeard() {
        return hearing == Hearing.ALL;
    }

    private void begin() {
        if (enabled) {
            kept.use(this, ANSWER);
            loop.start();
            loop.wake();
        } else {
            changeTo(Hearing.NOTHING);
        }
    }

    /** Listens from now on. */
    void listen() {
        awake = true;
        if (!ears.isEmpty()) {
            begin();
        }
    }

    /** Listens no more, until it is told to. */
    void rest() {
        awake = false;
        loop.wake();
        if (!enabled) {
            changeTo(Hearing.RESTS);
        }
    }

    private Duration hear() throws SQLException {
        if (!awake) {
            subscribed = null;
            changeTo(Hearing.RESTS);
            kept.leave(this);
            return Loop.PARKED;
        }
        try {
            kept.use(this, ANSWER);
            kept.await(PATIENCE);
            List<Heard> heard = new ArrayList<>();
            List<String> added = kept.hold(ANSWER, connection -> listen(connection, heard));
            Subscribed now = subscribed;
            if (now != null && !now.proved) {
                return prove(now, heard);
            }
            added.forEach(channel -> ear(channel).heard(Signal.MISSED));
            heard.forEach(each -> ear(each.channel).heard(each.signal));
            return Duration.ZERO;
        } catch (SQLException | RuntimeException | LinkageError e) {
            subscribed = null;
            if (stopped) {
                return Loop.PARKED;
            }
            if (!awake) {
                return Duration.ZERO; // the connection has been taken away
            }
            changeTo(Hearing.NOTHING);
            throw e;
        }
    }

    private Ear ear(String channel) {
        return ears.getOrDefault(channel, signal -> {});
    }

    /** Whoever waits for a signal is told, too: it may have been missed, or come no more. */
    private void changeTo(Hearing next) {
        boolean changes = hearing != next;
        if (changes) {
            hearing = next;
            hears.accept(next);
        }
        if (changes || next == Hearing.ALL) {
            ears.values().forEach(ear -> ear.heard(Signal.MISSED));
        }
    }

    /** Returns the channels that are new on a connection that is known to work. */
    private List<String> listen(Connection connection, List<Heard> heard) throws SQLException {
        Subscribed now = subscribed;
        if (now == null || now.connection != connection) {
            now = new Subscribed(connection, database.dialect().listen(connection));
            subscribed = now;
        }
        List<String> added = new ArrayList<>();
        for (String channel : ears.keySet()) {
            if (now.channels.add(channel)) {
                now.subscription.add(channel);
                added.add(channel);
            }
        }
        if (!now.proved && added.size() == now.channels.size()) {
            database.dialect().send(connection, added.get(0), new Signal(Signal.Kind.PROOF, now.proof).text());
        }
        check(now);
        now.subscription.await(
                (int) KeptConnection.SLICE.toMillis(),
                (channel, text) -> heard.add(new Heard(channel, Signal.of(text))));
        return added;
    }

    private Duration prove(Subscribed now, List<Heard> heard) throws SQLException {
        now.proved = heard.stream().anyMatch(each -> each.signal.subject().equals(now.proof));
        if (now.proved) {
            deaf = false;
            log.debug("[{}] listening on {}", database.name(), now.channels);
            changeTo(Hearing.ALL);
            return Duration.ZERO;
        }
        if (System.nanoTime() - now.since < PROOF_NANOS) {
            return Duration.ZERO;
        }
        if (!deaf) {
            log.info(
                    "[{}] notifications do not arrive, as behind a transaction-mode pooler; polling every second"
                            + " instead (give a direct connection with backgroundDataSource)",
                    database.name());
        }
        deaf = true;
        subscribed = null;
        changeTo(Hearing.NOTHING);
        kept.call(ANSWER, connection -> {
            database.dialect().endListening(connection);
            return true;
        });
        kept.leave(this);
        return RETRY_DEAF;
    }

    /** A connection that died silently looks like one on which nothing happens. */
    private static void check(Subscribed now) throws SQLException {
        if (System.nanoTime() - now.lastCheck >= CHECK_NANOS) {
            now.lastCheck = System.nanoTime();
            if (!now.connection.isValid(1)) {
                throw new SQLException("the connection for notifications is gone", "08006");
            }
        }
    }

    public void askToStop() {
        stopped = true;
        loop.askToStop();
    }

    public void awaitEnd(Deadline deadline) {
        loop.awaitEnd(deadline);
    }
}
