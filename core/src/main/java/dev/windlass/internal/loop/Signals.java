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
 * <p>Proves itself when it connects: behind a pooler that shares connections between transactions, LISTEN succeeds and nothing ever
 * arrives. The proof is a signal that another connection sends while nothing is asked on this one. One that this connection sends to
 * itself proves nothing: the server says it before the end of the very statement that sends it, and so the pooler passes it on. What
 * arrives together with an answer proves nothing either: that server connection may be a borrowed one.
 */
public final class Signals {
    private static final Logger log = LoggerFactory.getLogger(Signals.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final long PROOF_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long PROOF_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration RETRY_DEAF = Duration.ofMinutes(5);

    private final Database database;
    /** Sends the proof. It borrows a connection, for one statement. */
    private final Database others;

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
        boolean proved;

        @Nullable
        Sent proof;

        long firstSent;
        long lastCheck = System.nanoTime();

        Subscribed(Connection connection, Dialect.Subscription subscription) {
            this.connection = connection;
            this.subscription = subscription;
        }
    }

    /**
     * A proof that is under way.
     *
     * @param calls how many calls there had been on the connection
     */
    private record Sent(String text, long calls, long at) {}

    private record Heard(String channel, Signal signal) {}

    /**
     * @param others the same database, on other connections than the one that is kept
     * @param enabled whether to listen at all
     * @param awake whether from the beginning on
     * @param hears told when something else arrives than before
     */
    Signals(
            Database database,
            Database others,
            KeptConnection kept,
            Workers workers,
            boolean enabled,
            boolean awake,
            Consumer<Hearing> hears) {
        this.hears = hears;
        this.awake = awake;
        this.database = database;
        this.others = others.answeringWithin(ANSWER);
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
        if (isChecked(now) || !added.isEmpty()) {
            now.proof = null; // what arrives with an answer proves nothing
        }
        now.subscription.await(
                now.proved || now.proof != null ? (int) KeptConnection.SLICE.toMillis() : 1,
                (channel, text) -> heard.add(new Heard(channel, Signal.of(text))));
        return added;
    }

    private Duration prove(Subscribed now, List<Heard> heard) throws SQLException {
        Sent sent = now.proof;
        if (sent != null && sent.calls != kept.calls()) {
            sent = null; // it may have come with the answer to somebody else
        }
        now.proved = sent != null && isAmong(heard, sent.text);
        if (now.proved) {
            deaf = false;
            log.debug("[{}] listening on {}", database.name(), now.channels);
            changeTo(Hearing.ALL);
            return Duration.ZERO;
        }
        if (sent == null || System.nanoTime() - sent.at >= PROOF_AGAIN_NANOS) {
            send(now);
        }
        if (System.nanoTime() - now.firstSent < PROOF_NANOS) {
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

    private static boolean isAmong(List<Heard> heard, String proof) {
        return heard.stream().anyMatch(each -> each.signal.subject().equals(proof));
    }

    /** Each has a text of its own: an earlier one may still come with the answer of some other call. */
    private void send(Subscribed now) throws SQLException {
        Sent next = new Sent(UUID.randomUUID().toString(), kept.calls(), System.nanoTime());
        String channel = now.channels.iterator().next();
        others.once(connection -> {
            database.dialect().send(connection, channel, new Signal(Signal.Kind.PROOF, next.text).text());
            return true;
        });
        now.firstSent = now.firstSent == 0 ? System.nanoTime() | 1 : now.firstSent;
        now.proof = next;
    }

    /** A connection that died silently looks like one on which nothing happens. Returns whether the database was asked. */
    private static boolean isChecked(Subscribed now) throws SQLException {
        if (System.nanoTime() - now.lastCheck < CHECK_NANOS) {
            return false;
        }
        now.lastCheck = System.nanoTime();
        if (!now.connection.isValid(1)) {
            throw new SQLException("the connection for notifications is gone", "08006");
        }
        return true;
    }

    Loop loop() {
        return loop;
    }

    public void askToStop() {
        stopped = true;
        loop.askToStop();
    }

    /** Ends it, also if it waits for a connection to send its proof. */
    public void end(Deadline deadline) {
        new Loops(List.of(loop)).end(deadline, others);
    }
}
