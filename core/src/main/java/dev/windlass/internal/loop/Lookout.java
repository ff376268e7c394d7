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
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the database for all features of a node at once while they have nothing to do: one statement asks of each queue what is due,
 * what expires, and whether leases may run out. Who learns that there is something does it by itself, and looks by itself for as long as
 * there is.
 *
 * <p>As long as signals arrive, it looks as often as leases ask for. If they do not arrive, it looks every second. A node that
 * keeps no connection looks ever less often, up to the longest pause. If a look takes long, as beside a snapshot that is held
 * open, the next one comes later; but not later than leases ask for, or those who reap would never have been there long enough.
 *
 * <p>Whose question is refused, or takes too long, is asked alone from then on, after growing pauses, and goes to look by itself. Not if
 * a table is locked: it would only wait there, so it hears of it when the lock is gone. If all are refused, it is not a question that is
 * at fault, and the look has failed.
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
    /** The loop's own: who is asked alone. */
    private final Map<Watcher, Refused> refused = new HashMap<>();

    private volatile Hearing hearing = Hearing.RESTS;
    private volatile boolean stirred;
    private boolean connected;
    private Duration next;

    /** Since how often a question has been refused in a row, and when it is asked again. */
    private static final class Refused {
        private Duration pause = SOON;
        private long askAt = System.nanoTime();

        Duration untilAsked() {
            return Duration.ofNanos(askAt - System.nanoTime());
        }

        void again(Duration longest) {
            askAt = System.nanoTime() + min(pause, longest).toNanos();
            pause = min(pause.multipliedBy(2), longest);
        }
    }

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
        this(database, workers, longest, alone, ANSWER);
    }

    /**
     * @param answer how long a look may take
     */
    Lookout(Database database, Workers workers, Duration longest, boolean alone, Duration answer) {
        this.database = database.answeringWithin(answer);
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
        List<Watcher> all = List.copyOf(watchers);
        if (all.isEmpty()) {
            return Loop.PARKED;
        }
        long before = System.nanoTime();
        Map<Watcher, Seen> seen = ask(all);
        Duration pause = pause();
        for (Watcher each : all) {
            pause = min(pause, tell(each, seen.get(each)));
        }
        Duration shortest = min(Duration.ofNanos(PAUSE_FACTOR * (System.nanoTime() - before)), period());
        return pause.compareTo(shortest) < 0 ? shortest : pause;
    }

    /** Returns when it is to be asked again, at the latest. */
    private Duration tell(Watcher watcher, @Nullable Seen seen) {
        Duration wanted = seen == null ? Loop.PARKED : watcher.sees(seen);
        Refused before = refused.get(watcher);
        return before == null ? wanted : before.untilAsked();
    }

    private Map<Watcher, Seen> ask(List<Watcher> all) throws SQLException {
        Map<Watcher, Seen> seen = new HashMap<>();
        SQLException refusal = askTogether(
                all.stream().filter(each -> !refused.containsKey(each)).toList(), seen);
        for (Watcher each : all) {
            Refused before = refused.get(each);
            if (before != null && before.untilAsked().compareTo(Duration.ZERO) <= 0) {
                SQLException again = askAlone(each, before, seen);
                refusal = again == null ? refusal : again;
            }
        }
        if (refusal != null && all.size() > 1 && all.stream().allMatch(each -> Seen.UNKNOWN.equals(seen.get(each)))) {
            refused.clear();
            throw refusal;
        }
        note(refusal);
        return seen;
    }

    /** If one of the questions is refused, each is asked alone. Returns why. */
    private @Nullable SQLException askTogether(List<Watcher> asked, Map<Watcher, Seen> seen) throws SQLException {
        if (asked.isEmpty()) {
            return null;
        }
        try {
            List<Seen> answers = answers(asked);
            for (int i = 0; i < asked.size(); i++) {
                seen.put(asked.get(i), answers.get(i));
            }
            return null;
        } catch (SQLException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            asked.forEach(each -> refused.put(each, new Refused()));
            return e;
        }
    }

    private @Nullable SQLException askAlone(Watcher watcher, Refused before, Map<Watcher, Seen> seen)
            throws SQLException {
        try {
            seen.put(watcher, answers(List.of(watcher)).get(0));
            refused.remove(watcher);
            return null;
        } catch (SQLException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            before.again(min(longest, period()));
            if (!database.dialect().isLocked(e)) {
                seen.put(watcher, Seen.UNKNOWN);
            }
            return e;
        }
    }

    private void note(@Nullable SQLException refusal) {
        if (refusal != null) {
            trouble.failed(refusal);
        } else if (refused.isEmpty()) {
            trouble.over();
        }
    }

    /** What is refused before there is a connection is no fault of a question. */
    private boolean isRefusal(SQLException e) {
        return connected && database.dialect().isAnswer(e);
    }

    private List<Seen> answers(List<Watcher> asked) throws SQLException {
        connected = false;
        return database.once(connection -> {
            connected = true;
            return Call.together(each(asked, watcher -> watcher.asks(connection)), this::reader);
        });
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

    Loop loop() {
        return loop;
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
