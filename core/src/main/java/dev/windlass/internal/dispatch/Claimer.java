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
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes as much work as there is room for, and knows when to look again.
 *
 * <p>While claims come back full, there are two at a time, unless this node shares with others: one is on its way while the other is being
 * read. What to ask for is decided, and what came of it is noted, by one of them at a time; all else is the business of the first alone.
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
    private final Intake<M> intake;
    private final Completer<M> completer;
    private final Turnstile turnstile;
    private final Visitor visitor;
    private final Loop loop;
    private final Loop second;

    /** For what both of them change. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Sweeps sweeps = new Sweeps();
    private int mostRows = Integer.MAX_VALUE;

    /** Whether the last claim left what is due, as when somebody has it locked. */
    private boolean blocked;

    private int taken;

    private int answeredInVain;
    private volatile long oneByOneUntil = System.nanoTime();
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
        this.turnstile = node.turnstile();
        this.visitor = new Visitor(node.name());
        this.loop = new Loop("[" + database.name() + "] claiming", node.workers(), this::takeTurn);
        this.second = new Loop("[" + database.name() + "] claiming more", node.workers(), this::claimMore);
    }

    /** The first look is that of all. */
    void start() {
        loop.start(Loop.PARKED);
        second.start(Loop.PARKED);
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
            return capacity.batchSize();
        }

        @Override
        public void yourTurn() {
            loop.wake();
        }
    }

    /** Where several nodes share what they can hold, one that has to wait is called. */
    private Duration takeTurn() throws SQLException {
        int most = turnstile.enter(visitor);
        if (most == 0) {
            return Loop.PARKED;
        }
        taken = 0;
        boolean again = false;
        try {
            Duration pause = claim(most);
            again = pause.isZero();
            return pause;
        } finally {
            turnstile.leave(visitor, taken, again);
        }
    }

    private Duration claim(int most) throws SQLException {
        heartBeat.open();
        lostClaims.giveBack();
        wantsRoom = true;
        learnPauses();
        OptionalLong restEnds = capacity.restEnds(); // before the demands: a rest that ends between is not overslept
        Capacity.Ask ask = ask(most);
        return notBeyondRest(restEnds, ask.isNothing() ? pace.rest() : claim(ask));
    }

    private Duration claim(Capacity.Ask ask) throws SQLException {
        boolean oneByOne = isOneByOne();
        List<Claimed<M>> claimed;
        try {
            claimed = take(ask, oneByOne);
        } catch (SQLException e) {
            if (!isRefusal(e)) {
                throw e;
            }
            refused(e);
            return oneByOne ? pace.afterNothing() : Duration.ZERO;
        }
        answeredInVain = 0;
        taken = claimed.size();
        wantsRoom = capacity.isFull(ask.demands(), claimed);
        if (ask.isCut(claimed)) {
            if (claimed.size() >= ask.batchSize() && !oneByOne && !turnstile.isShared()) {
                second.wake();
            }
            return Duration.ZERO;
        }
        return notBeyondDue(ask.demands(), claimed.isEmpty() ? pace.afterNothing() : pace.afterWork(), claimed.size());
    }

    /** What goes wrong here, the first will meet too. It may have found no room because this one had it, so it looks again. */
    private Duration claimMore() {
        try {
            Capacity.Ask ask = isOneByOne() ? Capacity.Ask.NOTHING : ask(Integer.MAX_VALUE);
            if (ask.isNothing()) {
                return Loop.PARKED;
            }
            heartBeat.open();
            if (take(ask, false).size() >= ask.batchSize()) {
                return Duration.ZERO;
            }
        } catch (SQLException | RuntimeException e) {
            log.debug("[{}] a second claim has failed", database.name(), e);
        }
        loop.wake();
        return Loop.PARKED;
    }

    private boolean isOneByOne() {
        return System.nanoTime() - oneByOneUntil < 0;
    }

    private Capacity.Ask ask(int most) {
        lock.lock();
        try {
            if (missed) {
                missed = false;
                sweeps.allDue();
            }
            Capacity.Ask ask = capacity.ask(Math.min(mostRows, most));
            return ask.withDemands(sweeps.in(ask.demands(), System.nanoTime()));
        } finally {
            lock.unlock();
        }
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
            missed = true; // this claim may have been meant to sweep
        }
    }

    private List<Claimed<M>> take(Capacity.Ask ask, boolean oneByOne) throws SQLException {
        try {
            return take(lostClaims.begin(), ask, oneByOne);
        } finally {
            capacity.answered(ask);
        }
    }

    /** Whatever happens between the claim and the hand, nothing that was claimed is forgotten. */
    private List<Claimed<M>> take(LostClaims.Claim claim, Capacity.Ask ask, boolean oneByOne) throws SQLException {
        List<Claimed<M>> claimed = null;
        try {
            long before = System.nanoTime();
            claimed = call(claim, ask, oneByOne);
            note(ask, claimed);
            if (!claimed.isEmpty()) {
                intake.accept(claimed, before + options.queue().lease().toNanos());
            }
            lostClaims.arrived(claim);
            return claimed;
        } catch (Throwable e) {
            boolean unreadable = claimed == null && claim.wasSent() && (!isTransient(e) || lacksMemory(e));
            lostClaims.lost(claim, unreadable && ask.limit() == 1 ? "it cannot be read: " + kind(e) : null);
            if (claim.wasSent()) {
                takeLess(ask.limit());
            }
            throw e;
        }
    }

    private void note(Capacity.Ask ask, List<Claimed<M>> claimed) {
        lock.lock();
        try {
            capacity.claimed(ask, claimed);
            if (!claimed.isEmpty()) {
                mostRows = (int) Math.min(Integer.MAX_VALUE, 2L * mostRows);
            }
        } finally {
            lock.unlock();
        }
    }

    private void takeLess(int limit) {
        lock.lock();
        try {
            mostRows = Math.max(1, limit / 2);
        } finally {
            lock.unlock();
        }
    }

    private List<Claimed<M>> call(LostClaims.Claim claim, Capacity.Ask ask, boolean oneByOne) throws SQLException {
        long[] began = {System.nanoTime()};
        int timesMadeDue = sweeps.timesMadeDue();
        try {
            List<Claimed<M>> claimed = database.once(connection -> {
                began[0] = System.nanoTime();
                claim.sent();
                return oneByOne
                        ? store.claimEach(
                                connection,
                                claim.owner,
                                options.queue().lease(),
                                ask.limit(),
                                ask.bytes(),
                                ask.demands())
                        : store.claim(
                                connection,
                                claim.owner,
                                options.queue().lease(),
                                ask.limit(),
                                ask.bytes(),
                                ask.demands());
            });
            sweeps.done(ask.demands(), timesMadeDue, began[0], System.nanoTime());
            return claimed;
        } catch (Throwable e) {
            if (e instanceof SQLException sql && database.dialect().isOutage(sql)) {
                sweeps.allDue();
            }
            sweeps.failed(ask.demands(), began[0], System.nanoTime());
            throw e;
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
        loops().forEach(Loop::askToStop);
        turnstile.forget(visitor);
    }

    List<Loop> loops() {
        return List.of(loop, second);
    }
}
