package dev.windlass.runtime;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes as much work as there is room for, and knows when to look again. */
final class Claimer<M> {
    private static final Logger log = LoggerFactory.getLogger(Claimer.class);
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Duration LEARN_EVERY = Duration.ofSeconds(10);
    private static final Duration ASK_EVERY = Duration.ofMillis(100);

    private final Database database;
    private final WorkStore<M> store;
    private final Hand<M> hand;
    private final HeartBeat<M> heartBeat;
    private final DispatcherOptions options;
    private final Telemetry telemetry;
    private final Pace pace;
    private final Loop loop;
    private final BiConsumer<List<Attempt<M>>, List<Attempt<M>>> taken;
    private final BiConsumer<Attempt<M>, Outcome> decided;
    private final Consumer<List<Attempt<M>>> giveBack;
    private long lastSweep = System.nanoTime() - SWEEP_NANOS;
    private long lastAsked = System.nanoTime() - ASK_EVERY.toNanos();
    private long lastLearnt = System.nanoTime();
    private volatile boolean wantsRoom;
    private volatile boolean pausesChanged = true;

    /**
     * @param taken gets all claimed attempts, and those of them that are to be handled
     * @param decided gets attempts whose outcome is clear without handling them
     * @param giveBack gets attempts whose topic has been paused
     */
    Claimer(
            Database database,
            WorkStore<M> store,
            Hand<M> hand,
            HeartBeat<M> heartBeat,
            DispatcherOptions options,
            Telemetry telemetry,
            Workers workers,
            BiConsumer<List<Attempt<M>>, List<Attempt<M>>> taken,
            BiConsumer<Attempt<M>, Outcome> decided,
            Consumer<List<Attempt<M>>> giveBack) {
        this.giveBack = giveBack;
        this.database = database;
        this.store = store;
        this.hand = hand;
        this.heartBeat = heartBeat;
        this.options = options;
        this.telemetry = telemetry;
        this.pace = new Pace(options.pollingInterval(), options.maxPollingInterval());
        this.taken = taken;
        this.decided = decided;
        this.loop = new Loop("[" + database.name() + "] claiming", workers, this::claim);
    }

    void start() {
        loop.start();
    }

    /** Work has been committed. */
    void wake() {
        loop.wake();
    }

    /** Work has been written, and may be committed soon. */
    void expect() {
        pace.expect();
        loop.wakeWithin(Pace.QUICK);
    }

    /** Topics have been paused or resumed, or may have been. */
    void pausesChanged() {
        pausesChanged = true;
        loop.wake();
    }

    /** There is room again, which matters only if the lack of it stopped a claim. */
    void roomFreed() {
        if (wantsRoom) {
            loop.wake();
        }
    }

    /** The longest pause between two looks from now on; one that has already begun may be too long, and ends. */
    void limitPause(Duration longest) {
        pace.limit(longest);
        loop.wake();
    }

    private Duration claim() throws SQLException {
        try {
            heartBeat.open();
            boolean sweep = System.nanoTime() - lastSweep >= SWEEP_NANOS;
            wantsRoom = true;
            learnPauses();
            OptionalLong restEnds = hand.restEnds(); // before the demands: a rest that ends between is not overslept
            List<WorkStore.Demand> demands = hand.demands(sweep);
            Duration pause = notBeyondRest(restEnds, demands.isEmpty() ? Loop.PARKED : claim(demands, sweep));
            return hand.isPaused() && pause.compareTo(LEARN_EVERY) > 0 ? LEARN_EVERY : pause;
        } catch (SQLException e) {
            if (database.dialect().isOutage(e)) {
                hand.resetBounds();
            }
            throw e;
        }
    }

    /** A change of pauses is announced; who does not hear it finds out with time. */
    private void learnPauses() throws SQLException {
        if (pausesChanged || System.nanoTime() - lastLearnt >= LEARN_EVERY.toNanos()) {
            pausesChanged = false;
            try {
                giveBack.accept(hand.pause(database.once(store::pausedTopics)));
            } catch (SQLException | RuntimeException e) {
                pausesChanged = true;
                throw e;
            }
            lastLearnt = System.nanoTime();
        }
    }

    private static Duration notBeyondRest(OptionalLong restEnds, Duration pause) {
        if (restEnds.isEmpty()) {
            return pause;
        }
        Duration left = Duration.ofNanos(restEnds.getAsLong() - System.nanoTime());
        return left.compareTo(pause) < 0 ? left : pause;
    }

    private Duration claim(List<WorkStore.Demand> demands, boolean sweep) throws SQLException {
        long before = System.nanoTime();
        int limit = hand.limit(demands);
        long bytes = hand.bytesLeft();
        UUID owner = UUID.randomUUID();
        List<Claimed<M>> claimed =
                database.once(connection -> store.claim(connection, owner, options.lease(), limit, bytes, demands));
        lastSweep = sweep ? before : lastSweep;
        boolean cut = claimed.size() >= limit || size(claimed) >= bytes;
        hand.advanceBounds(demands, claimed, cut);
        if (!claimed.isEmpty()) {
            accept(claimed, before + options.lease().toNanos());
        }
        if (cut) {
            return Duration.ZERO;
        }
        wantsRoom = hand.isFull(demands, claimed);
        return notBeyondDue(demands, claimed.isEmpty() ? pace.afterNothing() : pace.afterWork());
    }

    private long size(List<Claimed<M>> claimed) {
        return claimed.stream().mapToLong(Claimed::size).sum();
    }

    /**
     * Shortens a pause so that it ends when the next message is due. Asked only now and then: messages that come one by one
     * would otherwise cost a question each.
     */
    private Duration notBeyondDue(List<WorkStore.Demand> demands, Duration pause) throws SQLException {
        if (pause.compareTo(ASK_EVERY) <= 0) {
            return pause;
        }
        if (System.nanoTime() - lastAsked < ASK_EVERY.toNanos()) {
            return ASK_EVERY;
        }
        Optional<Duration> due = database.once(connection -> store.nextDue(connection, demands));
        lastAsked = System.nanoTime();
        if (due.isPresent() && due.get().compareTo(Duration.ZERO) <= 0) {
            return Pace.QUICK; // due since the claim, or locked by somebody who may let it go
        }
        return due.filter(duration -> duration.compareTo(pause) < 0).orElse(pause);
    }

    /** Also for what the end of others took. */
    void accept(List<Claimed<M>> claimed, long leaseUntil) {
        log.debug("[{}] claimed {} messages", database.name(), claimed.size());
        telemetry.claimed(database.name(), claimed.size());
        List<Attempt<M>> all = new ArrayList<>(claimed.size());
        List<Attempt<M>> toStart = new ArrayList<>(claimed.size());
        List<Attempt<M>> ended = new ArrayList<>();
        for (Claimed<M> each : claimed) {
            Attempt<M> attempt = hand.attempt(each, leaseUntil);
            all.add(attempt);
            (each.problem() != null || isExhausted(attempt) ? ended : toStart).add(attempt);
        }
        taken.accept(all, toStart);
        ended.forEach(attempt -> decided.accept(
                attempt,
                new Outcome.Fail(
                        reason(attempt), attempt.lane.handling.options().failedHead())));
    }

    /** An operator who requeues a message wants to see it tried once more, however often that was before. */
    private boolean isExhausted(Attempt<M> attempt) {
        return attempt.claimed.crashes() >= options.maxLeaseExpiries()
                || (attempt.claimed.requeues() == 0
                        && attempt.claimed.retryCount()
                                >= attempt.lane.handling.options().retry().maxAttempts());
    }

    private String reason(Attempt<M> attempt) {
        Claimed<M> claimed = attempt.claimed;
        String reason = reason(claimed);
        log.error("[{}] message {} of topic {} has failed: {}", database.name(), claimed.id(), claimed.topic(), reason);
        return reason;
    }

    private String reason(Claimed<M> claimed) {
        if (claimed.problem() != null) {
            return claimed.problem();
        }
        return claimed.crashes() >= options.maxLeaseExpiries()
                ? "its lease ran out " + claimed.crashes()
                        + " times after its handler had been started: that may have ended the process"
                : "no attempt is left after " + claimed.retryCount();
    }

    void stop(Duration patience) {
        loop.stop(patience);
    }
}
