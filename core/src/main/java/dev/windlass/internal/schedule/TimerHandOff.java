package dev.windlass.internal.schedule;

import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.loop.Lookout;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.PollingPace;
import dev.windlass.internal.queue.ClaimBound;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.schedule.TimerStore.HandedOff;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets due timers become messages, and sleeps until the next one is due; an earlier one that is written meanwhile wakes it.
 *
 * <p>It looks from a {@link ClaimBound} on, and once in a while from the start, for what a transaction had locked at its time. When there is
 * nothing to do for a while, the {@link Lookout} looks for it.
 */
final class TimerHandOff {
    private static final Logger log = LoggerFactory.getLogger(TimerHandOff.class);
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    /** Timers that are due in a minute or later are not announced; the other half is for those who commit them late. */
    private static final Duration LONGEST = Duration.ofSeconds(30);

    /**
     * Who hears nothing finds timers of others as late as messages of others, however often they are announced: as seldom as it looks. Its
     * own wake it if they are due within the hour.
     */
    private static final Duration LONGEST_UNHEARD = Duration.ofMinutes(30);

    private static final Duration LONGEST_WHEN_BLOCKED = Duration.ofSeconds(1);
    private static final Duration LONGEST_WHEN_OPEN = Duration.ofSeconds(1);
    private static final Duration SOON = Duration.ofHours(1);
    private static final Duration SWEEP = Duration.ofSeconds(10);

    private final Database database;
    private final TimerStore store;
    private final int batchSize;
    private final Consumer<Collection<String>> handedOff;
    private final PollingPace pace;
    private final Lookout lookout;
    private final ClaimBound bound = new ClaimBound();
    private final Loop loop;
    /** Whether what is due is locked by somebody: to cancel it, or to hand it off. */
    private boolean blocked;

    private @Nullable Look earlier;
    private volatile @Nullable Seen seen;
    private volatile boolean running;
    private volatile boolean missed;
    private long lastSweep = System.nanoTime() - SWEEP.toNanos();

    /** The clock of the database, as it was at a moment of this process. */
    private record Seen(Instant server, long nanos) {}

    /** What a look proves, and when it was. */
    private record Look(Proof proof, long nanos) {}

    /**
     * @param handedOff gets the topics that have new messages
     */
    TimerHandOff(
            Database database, TimerStore store, int batchSize, Consumer<Collection<String>> handedOff, Node node) {
        this.database = database;
        this.store = store;
        this.batchSize = batchSize;
        this.handedOff = handedOff;
        this.pace = new PollingPace(SHORTEST, node.lookout());
        this.lookout = node.lookout();
        this.loop = new Loop("[" + database.name() + "] handing off timers", node.workers(), this::handOff);
    }

    void start() {
        running = true;
        loop.start(Loop.PARKED);
    }

    /** A look at all features has found this. Returns when to look again. */
    Duration sees(Lookout.Seen seen) {
        if (!isResting()) {
            return Loop.PARKED;
        }
        seen.dueIn().ifPresent(this::due);
        if (lookout.isResting()) {
            return LONGEST_UNHEARD;
        }
        return isAnyTransactionOpenSince(seen.proof()) ? LONGEST_WHEN_OPEN : LONGEST;
    }

    private void due(Duration time) {
        if (time.compareTo(Duration.ZERO) > 0) {
            loop.wakeWithin(time);
        } else {
            missed = true;
            loop.wake();
        }
    }

    boolean isResting() {
        return pace.isResting();
    }

    /** Whether timers of this process are handed off here, so that others need not be told of them. */
    boolean isRunning() {
        return running;
    }

    /** A timer has been committed, or its time may have changed. */
    void wake() {
        loop.wake();
    }

    /** A timer has been committed that is due after this time. */
    void wakeWithin(Duration delay) {
        loop.wakeWithin(delay);
    }

    /** A timer has been written, and may be committed soon. */
    void expect() {
        pace.expect();
        loop.wakeWithin(PollingPace.QUICK);
    }

    static boolean isSoon(Duration delay) {
        return delay.compareTo(SOON) < 0;
    }

    /** Whether this is a time within the next hour, as far as known: longer than any sleep. */
    boolean isSoon(Instant time) {
        Seen last = seen;
        return last == null
                || time.isBefore(
                        last.server.plusNanos(System.nanoTime() - last.nanos).plus(SOON));
    }

    private Duration handOff() throws SQLException {
        long now = System.nanoTime();
        if (missed || now - lastSweep >= SWEEP.toNanos()) {
            missed = false;
            lastSweep = now;
            bound.reset();
        }
        HandedOff done = handOffFrom(bound.position());
        seen = new Seen(done.serverTime(), System.nanoTime());
        if (done.count() > 0) {
            log.debug("[{}] {} timers became messages", database.name(), done.count());
            database.events().tell(new WindlassEvent.TimersHandedOff(database.store(), done.count(), done.late()));
            bound.advance(done.last(), done.proof(), done.count() < batchSize);
            handedOff.accept(done.topics());
        }
        return done.count() == batchSize ? Duration.ZERO : pause(done);
    }

    private HandedOff handOffFrom(Position position) throws SQLException {
        try {
            return database.once(connection -> store.handOff(connection, batchSize, position));
        } catch (SQLException e) {
            bound.reset(); // another server, perhaps, that has not seen all of it
            throw e;
        }
    }

    private Duration pause(HandedOff done) {
        Duration pause = pace.afterNothing();
        if (done.nextDue().isEmpty()) {
            return pause;
        }
        Duration due = done.nextDue().get();
        boolean nothing = done.topics().isEmpty(); // else what is due may be what could not be changed
        blocked &= nothing && due.compareTo(Duration.ZERO) <= 0;
        if (due.compareTo(Duration.ZERO) > 0) {
            return min(pause, due);
        }
        if (!nothing) {
            return Duration.ZERO;
        }
        if (!blocked) {
            blocked = true;
            pace.expect();
            pause = pace.afterNothing();
        }
        return min(pause, LONGEST_WHEN_BLOCKED);
    }

    /**
     * Whether a transaction is open that was open at an earlier look. It may have written a timer that was too far away to tell
     * anybody of, and commit it when it is nearly due, or late.
     */
    private boolean isAnyTransactionOpenSince(Proof proof) {
        Look last = earlier;
        long now = System.nanoTime();
        if (last == null || now - last.nanos >= LONGEST_WHEN_OPEN.toNanos()) {
            earlier = new Look(proof, now);
        }
        return last != null && !proof.covers(last.proof);
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    /** From now on others have to be told of timers. */
    void askToStop() {
        running = false;
        loop.askToStop();
    }

    Loop loop() {
        return loop;
    }
}
