package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.PollingPace;
import dev.windlass.internal.loop.Turnstile;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes as much work as there is room for, and knows when to look again.
 *
 * <p>A claim whose answer is lost or cannot be read is made again for half as many messages, until the one that is at fault is
 * alone; after each that succeeds, for twice as many. If the database refuses a claim, one message may be at fault, and for a
 * while they are taken one by one.
 */
final class Claimer<M> {
    private static final Logger log = LoggerFactory.getLogger(Claimer.class);

    private static final Duration LEARN_EVERY = Duration.ofSeconds(10);
    private static final Duration ASK_EVERY = Duration.ofMillis(100);
    private static final long ONE_BY_ONE_NANOS = Duration.ofSeconds(10).toNanos();

    /** Refusals with longer pauses between them are told of again. */
    private static final long QUIET_NANOS = Duration.ofMinutes(10).toNanos();

    /** So often in a row a claim may meet what sounds like trouble of the whole database. */
    private static final int PATIENCE = 3;

    private final Database database;
    private final WorkStore<M> store;
    private final Capacity<M> capacity;
    private final HeartBeat<M> heartBeat;
    private final LostClaims<M> lostClaims;
    private final DispatcherOptions options;
    private final PollingPace pace;
    private final Loop loop;
    private final Intake<M> intake;
    private final Completer<M> completer;
    private final Turnstile turnstile;
    private final Visitor visitor;
    private final Sweeps sweeps = new Sweeps();
    private int mostInTurn;
    private int taken;
    private int mostRows = Integer.MAX_VALUE;
    /** Whether the last claim left what is due, as when somebody has it locked. */
    private boolean blocked;

    private int answeredInVain;
    private long oneByOneUntil = System.nanoTime();
    private long lastRefused = System.nanoTime() - QUIET_NANOS;
    private long lastAsked = System.nanoTime() - ASK_EVERY.toNanos();
    private long lastLearnt = System.nanoTime();
    private volatile boolean wantsRoom;
    private volatile boolean pausesChanged = true;
    private volatile boolean missed;

    Claimer(
            Database database,
            WorkStore<M> store,
            Capacity<M> capacity,
            HeartBeat<M> heartBeat,
            LostClaims<M> lostClaims,
            Intake<M> intake,
            Completer<M> completer,
            DispatcherOptions options,
            Node node) {
        this.database = database;
        this.store = store;
        this.capacity = capacity;
        this.heartBeat = heartBeat;
        this.lostClaims = lostClaims;
        this.options = options;
        this.pace = new PollingPace(options.queue().pollingInterval(), node.lookout());
        this.intake = intake;
        this.completer = completer;
        this.loop = new Loop("[" + database.name() + "] claiming", node.workers(), this::takeTurn);
        this.turnstile = node.turnstile();
        this.visitor = new Visitor(node.name());
    }

    /** The first look is that of all. */
    void start() {
        loop.start(Loop.PARKED);
    }

    /** Whether it has nothing to do, and does not look by itself. */
    boolean isResting() {
        return pace.isResting();
    }

    /** A look at all features has found that something is due after this time. What is due now, claims may have missed. */
    void due(Duration time) {
        if (time.compareTo(Duration.ZERO) > 0) {
            loop.wakeWithin(time);
        } else {
            missed = true;
            pausesChanged();
        }
    }

    /** Work has been committed. */
    void wake() {
        loop.wake();
    }

    /** Work has been written, and may be committed soon. */
    void expect() {
        pace.expect();
        loop.wakeWithin(PollingPace.QUICK);
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

    private final class Visitor implements Turnstile.Visitor {
        private final String store;

        Visitor(String store) {
            this.store = store;
        }

        @Override
        public String store() {
            return store;
        }

        @Override
        public int batchSize() {
            return options.queue().batchSize();
        }

        @Override
        public void yourTurn() {
            loop.wake();
        }
    }

    /** Where several nodes share what they can hold, one that has to wait is called. */
    private Duration takeTurn() throws SQLException {
        mostInTurn = turnstile.enter(visitor);
        if (mostInTurn == 0) {
            return Loop.PARKED;
        }
        taken = 0;
        boolean again = false;
        try {
            Duration pause = claim();
            again = pause.isZero();
            return pause;
        } finally {
            turnstile.leave(visitor, taken, again);
        }
    }

    private Duration claim() throws SQLException {
        heartBeat.open();
        lostClaims.giveBack();
        wantsRoom = true;
        learnPauses();
        if (missed) {
            missed = false;
            sweeps.allDue();
        }
        OptionalLong restEnds = capacity.restEnds(); // before the demands: a rest that ends between is not overslept
        List<WorkStore.Demand> demands = sweeps.in(capacity.demands(), System.nanoTime());
        return notBeyondRest(restEnds, demands.isEmpty() ? pace.rest() : claim(demands));
    }

    /** A change of pauses is announced; who does not hear it finds out with time. */
    private void learnPauses() throws SQLException {
        if (pausesChanged || System.nanoTime() - lastLearnt >= LEARN_EVERY.toNanos()) {
            pausesChanged = false;
            try {
                completer.release(capacity.decide(database.once(store::decidedTopics)));
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

    private Duration claim(List<WorkStore.Demand> demands) throws SQLException {
        int limit = Math.min(Math.min(capacity.limit(demands), mostRows), mostInTurn);
        long bytes = capacity.bytesLeft();
        boolean oneByOne = System.nanoTime() - oneByOneUntil < 0;
        List<Claimed<M>> claimed;
        try {
            claimed = take(demands, limit, bytes, oneByOne);
        } catch (SQLException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            refused(e);
            return oneByOne ? pace.afterNothing() : Duration.ZERO;
        }
        if (isCut(claimed, limit, bytes)) {
            return Duration.ZERO;
        }
        return notBeyondDue(demands, claimed.isEmpty() ? pace.afterNothing() : pace.afterWork(), claimed.size());
    }

    /** Whether one message may be at fault, as when a constraint or a trigger of the user's own refuses its change. */
    private boolean isRefusal(SQLException e) {
        return database.dialect().isAnswer(e) && !lacksMemory(e) && (!isTransient(e) || ++answeredInVain > PATIENCE);
    }

    private void refused(SQLException e) {
        long now = System.nanoTime();
        if (now - lastRefused >= QUIET_NANOS) {
            log.warn(
                    "[{}] the database refuses a claim ({}); messages are claimed one by one for now, and those that are"
                            + " refused are left and tried again",
                    database.name(),
                    database.describe(e));
        }
        lastRefused = now;
        if (now - oneByOneUntil >= 0) {
            oneByOneUntil = now + ONE_BY_ONE_NANOS;
            sweeps.allDue(); // this one may have been meant for it
        }
    }

    /** Whether it may have left what is ready, for lack of room. */
    private boolean isCut(List<Claimed<M>> claimed, int limit, long bytes) {
        return claimed.size() >= limit
                || claimed.stream().mapToLong(Claimed::size).sum() >= bytes;
    }

    /** Whatever happens between the claim and the hand, nothing that was claimed is forgotten. */
    private List<Claimed<M>> take(List<WorkStore.Demand> demands, int limit, long bytes, boolean oneByOne)
            throws SQLException {
        LostClaims.Claim claim = lostClaims.begin();
        List<Claimed<M>> claimed = null;
        try {
            long before = System.nanoTime();
            claimed = ask(claim, limit, bytes, demands, oneByOne);
            answeredInVain = 0;
            taken = claimed.size();
            capacity.claimed(demands, claimed, isCut(claimed, limit, bytes));
            if (!claimed.isEmpty()) {
                intake.accept(claimed, before + options.queue().lease().toNanos());
                mostRows = (int) Math.min(Integer.MAX_VALUE, 2L * mostRows);
            }
            lostClaims.arrived(claim);
            wantsRoom = capacity.isFull(demands, claimed);
            return claimed;
        } catch (Throwable e) {
            boolean unreadable = claimed == null && claim.wasSent() && (!isTransient(e) || lacksMemory(e));
            lostClaims.lost(claim, unreadable && limit == 1 ? "it cannot be read: " + kind(e) : null);
            mostRows = claim.wasSent() ? Math.max(1, limit / 2) : mostRows;
            throw e;
        }
    }

    private List<Claimed<M>> ask(
            LostClaims.Claim claim, int limit, long bytes, List<WorkStore.Demand> demands, boolean oneByOne)
            throws SQLException {
        long[] began = {System.nanoTime()};
        try {
            return database.once(connection -> {
                began[0] = System.nanoTime();
                claim.sent();
                return oneByOne
                        ? store.claimEach(
                                connection, claim.owner, options.queue().lease(), limit, bytes, demands)
                        : store.claim(connection, claim.owner, options.queue().lease(), limit, bytes, demands);
            });
        } catch (SQLException e) {
            if (database.dialect().isOutage(e)) {
                sweeps.allDue();
            }
            throw e;
        } finally {
            sweeps.tried(demands, began[0], System.nanoTime());
        }
    }

    private boolean isTransient(Throwable e) {
        return e instanceof SQLException sql && database.dialect().isTransient(sql);
    }

    /** A driver tells of a lack of memory for an answer as of an error of the database. */
    private boolean lacksMemory(Throwable e) {
        return e instanceof SQLException sql && database.dialect().isLackOfMemory(sql);
    }

    /** Its message may quote the payload. */
    private String kind(Throwable e) {
        return e instanceof SQLException sql
                ? database.describe(sql)
                : e.getClass().getName();
    }

    /**
     * Shortens a pause so that it ends when the next message is due. Asked only now and then: messages that come one by one
     * would otherwise cost a question each.
     */
    private Duration notBeyondDue(List<WorkStore.Demand> demands, Duration pause, int taken) throws SQLException {
        if (pause.compareTo(ASK_EVERY) <= 0) {
            return pause;
        }
        if (System.nanoTime() - lastAsked < ASK_EVERY.toNanos()) {
            return ASK_EVERY;
        }
        Optional<Duration> due = database.once(connection -> store.nextDue(connection, demands));
        lastAsked = System.nanoTime();
        if (due.isPresent() && due.get().compareTo(Duration.ZERO) <= 0) {
            return whileDue(taken);
        }
        blocked = false;
        return due.filter(duration -> duration.compareTo(pause) < 0).orElse(pause);
    }

    /** Due since the claim, or locked by somebody who may let it go, but hardly this very moment. */
    private Duration whileDue(int taken) {
        boolean still = blocked;
        blocked |= taken == 0;
        return still ? options.queue().pollingInterval() : PollingPace.QUICK;
    }

    /** It does not claim any more. */
    void close() {
        loop.askToStop();
        turnstile.forget(visitor);
    }

    Loop loop() {
        return loop;
    }
}
