package dev.windlass.internal.loop;

import static dev.windlass.internal.database.Columns.each;

import dev.windlass.base.Deadline;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.loop.Signals.Hearing;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Looks at the database for all features of a node at once while they have nothing to do: one statement asks of each queue what is due,
 * what expires, and whether leases may run out. Who learns that there is something does it by itself, and looks by itself for as long as
 * there is.
 *
 * <p>As long as signals arrive, it looks as often as leases ask for. If they do not arrive, it looks every second. A node that
 * keeps no connection looks ever less often, up to the longest pause. If a look takes long, as beside a snapshot that is held
 * open, the next one comes later; but not later than leases ask for, or those who reap would never have been there long enough.
 */
public final class Lookout {
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration ANSWER = Duration.ofSeconds(20);

    /** So that looks take a sixth of the time at most. */
    private static final int PAUSE_FACTOR = 5;

    /** Many nodes that began together are not to look together. */
    private static final double JITTER = 0.2;

    private final Database database;
    private final Duration longest;
    private final Loop loop;
    private final Trouble trouble;
    private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
    private volatile Hearing hearing = Hearing.RESTS;
    private volatile boolean stirred;
    private Duration next;

    /** Somebody who wants to know what there is to do. */
    public interface Watcher {
        /** The pause between two looks that it needs for its leases. */
        Duration period();

        /** The look that tells it. */
        Call asks(Connection connection);

        /** Returns within which time it wants to be told again, at the latest. Waits for nothing. */
        Duration sees(Seen seen);
    }

    /**
     * What a look has found.
     *
     * @param dueIn when the next message is due, if there is one
     * @param expiresIn when the next one expires, if there is one
     * @param leased whether something is in progress
     * @param others topics with messages that nobody has asked for
     * @param proof what it proves of earlier looks, if it was asked for that
     */
    public record Seen(
            Optional<Duration> dueIn, Optional<Duration> expiresIn, boolean leased, List<String> others, Proof proof) {

        /** There may be anything: whoever is told has to look. */
        static final Seen UNKNOWN =
                new Seen(Optional.of(Duration.ZERO), Optional.of(Duration.ZERO), true, List.of(), Proof.NONE);
    }

    /**
     * @param longest the longest pause
     * @param alone whether this node shares with nobody, and may look often
     */
    Lookout(Database database, Workers workers, Duration longest, boolean alone) {
        this.database = database.answeringWithin(ANSWER);
        this.longest = longest;
        this.next = alone ? SOON : longest;
        String name = "[" + database.name() + "] looking for work";
        this.trouble = new Trouble(name);
        this.loop = new Loop(name, workers, this::look, alone ? Loop.MAX_PAUSE : longest);
    }

    /** From now on this one is told; at once, if looking has begun. */
    public void add(Watcher watcher) {
        watchers.add(watcher);
        loop.wake();
    }

    /** Begins to look. */
    public void start() {
        loop.start();
    }

    /** Somebody has nothing to do any more, and looks no longer by itself. */
    public void soon() {
        if (hearing != Hearing.ALL) {
            stirred = true;
            loop.wakeWithin(SOON);
        }
    }

    /** Something has been claimed: its lease has to be looked after. */
    void busy() {
        loop.wakeWithin(period());
    }

    /** Signals arrive, or do not any more. */
    void hears(Hearing hearing) {
        this.hearing = hearing;
        stirred = true;
        loop.wakeWithin(SOON);
    }

    /** Whether this node keeps no connection, and is to cost little. */
    public boolean isResting() {
        return hearing == Hearing.RESTS;
    }

    private Duration look() throws SQLException {
        List<Watcher> asked = List.copyOf(watchers);
        if (asked.isEmpty()) {
            return Loop.PARKED;
        }
        long before = System.nanoTime();
        List<Seen> seen = ask(asked);
        Duration pause = pause();
        for (int i = 0; i < asked.size(); i++) {
            pause = min(pause, asked.get(i).sees(seen.get(i)));
        }
        Duration shortest = min(Duration.ofNanos(PAUSE_FACTOR * (System.nanoTime() - before)), period());
        return pause.compareTo(shortest) < 0 ? shortest : pause;
    }

    /** If one of the questions is refused, the others are asked without it. */
    private List<Seen> ask(List<Watcher> asked) throws SQLException {
        try {
            List<Seen> seen = askTogether(asked);
            trouble.over();
            return seen;
        } catch (SQLException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            trouble.failed(e);
        }
        List<Seen> seen = new ArrayList<>();
        for (Watcher each : asked) {
            seen.add(askAlone(each));
        }
        return seen;
    }

    /** Also one that may be over soon, as when a table is locked: the others must not wait for that. */
    private boolean isRefusal(SQLException e) {
        return database.dialect().isAnswer(e);
    }

    private List<Seen> askTogether(List<Watcher> asked) throws SQLException {
        return database.once(
                connection -> Call.together(each(asked, watcher -> watcher.asks(connection)), this::reader));
    }

    private Seen askAlone(Watcher watcher) throws SQLException {
        try {
            return askTogether(List.of(watcher)).get(0);
        } catch (SQLException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            return Seen.UNKNOWN;
        }
    }

    private Call.RowMapper<Seen> reader(ResultSet rows) throws SQLException {
        Call.RowMapper<Proof> proof = database.dialect().proofs(rows);
        return row -> new Seen(
                milliseconds(row, "due_in"),
                milliseconds(row, "expires_in"),
                row.getBoolean("leased"),
                row.getArray("others") == null
                        ? List.of()
                        : Arrays.asList((String[]) row.getArray("others").getArray()),
                proof.map(row));
    }

    private static Optional<Duration> milliseconds(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getObject(column, Long.class)).map(Duration::ofMillis);
    }

    private Duration pause() {
        return switch (hearing) {
            case ALL -> min(longest, period());
            case NOTHING -> min(longest, SOON);
            case RESTS -> restingPause();
        };
    }

    private Duration restingPause() {
        if (stirred) {
            stirred = false;
            next = SOON;
        }
        Duration now = min(next, longest);
        next = min(now.multipliedBy(2), longest);
        double part = 1 - JITTER * ThreadLocalRandom.current().nextDouble();
        return Duration.ofNanos((long) (now.toNanos() * part));
    }

    private Duration period() {
        Duration period = Loop.PARKED;
        for (Watcher watcher : watchers) {
            period = min(period, watcher.period());
        }
        return period;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    public void askToStop() {
        loop.askToStop();
    }

    /** Ends it, and with it a call that hangs. */
    void end(Deadline deadline) {
        new Loops(List.of(loop)).end(deadline, database);
        database.end();
    }
}
