package dev.windlass.runtime;

import dev.windlass.Deadline;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims, handles and completes the work of one table until it is stopped. See the package for how the parts fit. */
public final class Dispatcher<M> {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
    /** The notification that topics have been paused or resumed, as the routines send it. */
    private static final String PAUSES_CHANGED = "\u0001topics";

    /** The notification that something in progress is to be cancelled. */
    private static final String CANCEL_ASKED = "\u0001cancel";

    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);
    private static final Duration MAX_POLLING_WHEN_DEAF = Duration.ofSeconds(1);

    private final Database database;
    private final DispatcherOptions options;
    private final Telemetry telemetry;
    private final Workers workers;
    private final Hand<M> hand;
    private final LostClaims<M> lostClaims;
    private final Completer<M> completer;
    private final HeartBeat<M> heartBeat;
    private final Watchdog<M> watchdog;
    private final HandlerLog handlerLog;
    private final Claimer<M> claimer;
    private final Maintenance<M> maintenance;
    private final Listener listener;
    private final Announcer announcer;
    private Companion companion = Companion.NONE;
    private volatile boolean listening;

    /** What else on this node lives by the notifications of this table. */
    public interface Companion {
        Companion NONE = new Companion() {};

        /** Something was announced: a topic, or what the routines of the companion say; empty stands for several topics. */
        default void heard(String what) {}

        /** Whether announcements arrive. Some may have been missed before. */
        default void listening(boolean works) {}
    }

    /**
     * @param background gives the connections that are kept: for heartbeats and notifications
     */
    public Dispatcher(
            Database database,
            Database background,
            WorkStore<M> store,
            String channel,
            Map<String, Handling<M>> handlings,
            DispatcherOptions options,
            Telemetry telemetry,
            Workers workers) {
        Database answering = database.answeringWithin(LONGEST_CALL);
        this.database = answering;
        this.options = options;
        this.telemetry = telemetry;
        this.workers = workers;
        hand = new Hand<>(
                handlings,
                options.queue().concurrency(),
                options.queue().batchSize(),
                options.queue().lease(),
                options.maxBytesInHand(),
                store.ranking());
        lostClaims = new LostClaims<>(answering, store, options.queue().lease(), workers);
        completer = new Completer<>(
                database.name(),
                late -> new OutcomeWriter<>(
                        answering, store, telemetry, options.queue().lease(), lostClaims, results(late)),
                workers,
                Math.max(options.queue().batchSize(), 100));
        announcer =
                new Announcer(answering, channel, "", workers, options.common().wakeUp());
        listener = new Listener(background, channel, workers, this::heard, this::listening);
        heartBeat = new HeartBeat<>(
                background, store, hand, workers, options.queue().lease(), listener);
        watchdog = new Watchdog<>(
                database.name(),
                hand,
                workers,
                options.queue().lease(),
                shortestTimeout(handlings),
                this::giveUp,
                this::giveBack);
        handlerLog = new HandlerLog(database.name(), telemetry, options.common().retriesAsWarnings());
        claimer = new Claimer<>(
                answering,
                store,
                hand,
                heartBeat,
                lostClaims,
                options,
                telemetry,
                workers,
                this::taken,
                completer::add,
                this::giveBack);
        maintenance = new Maintenance<>(
                answering,
                store,
                hand.topics(),
                telemetry,
                workers,
                options.queue().lease(),
                claimer::wake);
    }

    private static <M> Duration shortestTimeout(Map<String, Handling<M>> handlings) {
        return handlings.values().stream()
                .map(handling -> handling.options().timeout())
                .min(Duration::compareTo)
                .orElse(Duration.ofMinutes(1));
    }

    /** Shares the one connection that listens; before the start. */
    public void accompany(Companion companion) {
        this.companion = companion;
    }

    public void start() {
        maintenance.start();
        boolean handles = !hand.topics().isEmpty();
        if (handles) {
            completer.start();
            lostClaims.start();
            heartBeat.start();
            watchdog.start();
            claimer.start();
        } else if (companion == Companion.NONE) {
            return;
        }
        if (options.common().wakeUp()) {
            listener.start();
        } else {
            listening(false);
        }
    }

    /** Whether this node would start a message of this topic at once, so that others need not be told of it. */
    public boolean hasPlace(String topic) {
        return hand.hasPlace(topic);
    }

    /** Topics have been paused or resumed by this process. */
    public void pausesChanged() {
        claimer.pausesChanged();
    }

    /** Something in progress is to be cancelled, perhaps here. */
    public void cancelAsked() {
        heartBeat.renewAll();
    }

    /** This process has committed something. */
    public void committed() {
        claimer.wake();
    }

    /** A message of this topic has been committed by this process. */
    public void committed(String topic) {
        if (hand.handles(topic)) {
            claimer.wake();
        }
    }

    /**
     * A message of this topic has been written by this process, and may be committed soon.
     *
     * @param announced whether the commit sends a notification, which this process hears too
     */
    public void written(String topic, boolean announced) {
        if (hand.handles(topic) && !(announced && listening)) {
            claimer.expect();
        }
    }

    /** A notification without a topic speaks for several writes, some of which may not be committed yet. */
    private void heard(String topic) {
        companion.heard(topic);
        if (topic.equals(PAUSES_CHANGED)) {
            claimer.pausesChanged();
        } else if (topic.equals(CANCEL_ASKED)) {
            heartBeat.renewAll();
        } else if (topic.isEmpty()) {
            claimer.expect();
            claimer.wake();
        } else if (hand.handles(topic)) {
            claimer.wake();
        }
    }

    /** While nobody listened, topics may have been paused or resumed. */
    private void listening(boolean works) {
        listening = works;
        companion.listening(works);
        claimer.pausesChanged();
        Duration longest = options.common().maxPollingInterval();
        boolean cap = !works && longest.compareTo(MAX_POLLING_WHEN_DEAF) > 0;
        claimer.limitPause(cap ? MAX_POLLING_WHEN_DEAF : longest);
    }

    private OutcomeWriter.Results<M> results(Completer<M> late) {
        return new OutcomeWriter.Results<>() {
            @Override
            public void written(List<Attempt<M>> attempts, boolean anyReady) {
                settled(attempts, anyReady);
            }

            @Override
            public void putOff(List<Ended<M>> ended) {
                late.putOff(ended);
            }

            @Override
            public Set<String> takes(int count) {
                return hand.takes(count);
            }

            @Override
            public long bytesLeft() {
                return hand.bytesLeft();
            }

            @Override
            public void taken(List<Claimed<M>> messages, long leaseUntil) {
                claimer.accept(messages, leaseUntil);
            }
        };
    }

    private void taken(List<Attempt<M>> all, List<Attempt<M>> toStart) {
        Hand.Taken<M> taken = hand.take(all, toStart);
        giveBack(taken.back());
        hire(taken.workers());
        watchdog.wake();
    }

    private void settled(Collection<Attempt<M>> attempts, boolean anyReady) {
        hire(hand.settle(attempts));
        if (attempts.stream().anyMatch(attempt -> attempt.lane.limited)) {
            announcer.announceSoon(); // what ends here leaves a place that others can take
        }
        if (anyReady) {
            claimer.wake();
        } else {
            claimer.roomFreed();
        }
    }

    private void hire(int count) {
        for (int i = 0; i < count; i++) {
            try {
                workers.runHandlers(this::work);
            } catch (RejectedExecutionException | OutOfMemoryError e) {
                hand.dismiss(count - i);
                log.error("[{}] found no thread for handlers; going on with those there are", database.name(), e);
                return;
            }
        }
    }

    private void work() {
        for (Attempt<M> attempt; (attempt = hand.next()) != null; ) {
            try {
                if (!handle(attempt)) {
                    return;
                }
            } catch (Throwable e) {
                letGo(attempt, e);
            }
        }
    }

    /** Its outcome may not have been passed on, as for lack of memory. Then its lease runs out, and it is handled again. */
    private void letGo(Attempt<M> attempt, Throwable cause) {
        hire(hand.settle(List.of(attempt)));
        log.error("[{}] could not end message {} in order", database.name(), attempt.claimed.id(), cause);
    }

    /** Runs one handler. Returns whether this thread may take the next message. */
    private boolean handle(Attempt<M> attempt) {
        Result result = result(attempt);
        long took = attempt.end();
        Optional<Breaker.Effect> effect = hand.ended(attempt, took, result);
        if (effect.isEmpty()) {
            handlerLog.endedLate(attempt, result);
            return false;
        }
        Outcome outcome = attempt.handling.outcome(result, attempt.claimed.retryCount(), effect.get());
        handlerLog.ended(attempt, result, outcome, effect.get());
        conclude(attempt, outcome, effect.get());
        telemetry.handled(database.name(), attempt.claimed.topic(), outcome, Duration.ofNanos(took));
        return true;
    }

    /** What goes wrong before the handler has been started is not held against the message. */
    private Result result(Attempt<M> attempt) {
        try {
            return mayStart(attempt) ? run(attempt, attempt.claimed.readable()) : new Result.Stopped();
        } catch (NotStartedException e) {
            return new Result.Failed(e);
        } catch (Throwable e) {
            log.error("[{}] could not start the handler of {}", database.name(), attempt.claimed.id(), e);
            return new Result.Stopped();
        }
    }

    private boolean mayStart(Attempt<M> attempt) throws NotStartedException {
        return !attempt.isCancelled() && (!attempt.isMarkedAtStart() || (mark(attempt) && !attempt.isCancelled()));
    }

    /**
     * Writes down that the handler starts. What cannot be written down is not started: it waits for a while, or it would be
     * claimed again at once.
     */
    private boolean mark(Attempt<M> attempt) throws NotStartedException {
        WorkStore.Answer answer;
        try {
            answer = heartBeat.start(List.of(attempt.held()));
        } catch (SQLException | RuntimeException e) {
            if (SqlError.isOutage(e)) {
                return false;
            }
            throw new NotStartedException("its start could not be written down: " + kind(e), database.safe(e));
        }
        if (!answer.lost().isEmpty()) {
            attempt.cancel(Attempt.Reason.LEASE_LOST);
        }
        if (!answer.locked().isEmpty()) {
            throw new NotStartedException("its start could not be written down: somebody has it locked", null);
        }
        return answer.lost().isEmpty();
    }

    private String kind(Exception e) {
        return e instanceof SQLException sql
                ? database.describe(sql)
                : e.getClass().getName();
    }

    private Result run(Attempt<M> attempt, M message) {
        log.debug("[{}] handling {} of topic {}", database.name(), attempt.claimed.id(), attempt.claimed.topic());
        Handling<M> handling = attempt.handling;
        attempt.begin();
        try {
            handling.handle(message, attempt);
            return attempt.isOverdue() ? handling.didNotStop() : new Result.Done();
        } catch (Throwable e) {
            return afterFailure(attempt, e);
        }
    }

    /** Only a handler's own failure costs an attempt; a shutdown or an outage is not its fault. */
    private Result afterFailure(Attempt<M> attempt, Throwable failure) {
        Throwable told = database.safe(failure);
        if (attempt.isCancelled() && !attempt.isCancelled(Attempt.Reason.TIMED_OUT)) {
            return new Result.Stopped(told);
        }
        Result.Failed failed = new Result.Failed(failure, told);
        return attempt.isCancelled(Attempt.Reason.TIMED_OUT) && !failed.isDecision()
                ? attempt.handling.timedOut(told)
                : failed;
    }

    /** Goes on without a handler that does not return, unless too many have been given up. */
    private void giveUp(Attempt<M> attempt, Result result) {
        hand.detach(attempt, result).ifPresent(effect -> {
            handlerLog.givenUp(attempt, result, effect);
            conclude(attempt, attempt.handling.outcome(result, attempt.claimed.retryCount(), effect), effect);
        });
    }

    private void conclude(Attempt<M> attempt, Outcome outcome, Breaker.Effect effect) {
        completer.add(attempt, outcome);
        if (effect.isChange()) {
            giveBack(hand.recall());
            claimer.wake();
        }
    }

    private void giveBack(List<Attempt<M>> attempts) {
        attempts.forEach(attempt -> completer.add(attempt, new Outcome.Release()));
    }

    /** Takes nothing more, and returns what has not been started. Waits for nothing. Returns how many those are. */
    public int askToStop() {
        List<Attempt<M>> unstarted = hand.close();
        giveBack(unstarted);
        claimer.loop().askToStop();
        maintenance.loops().forEach(Loop::askToStop);
        return unstarted.size();
    }

    /** Waits for handlers, while their leases are renewed. Returns whether all have ended. */
    public boolean awaitHandlers(Deadline deadline) throws InterruptedException {
        return hand.awaitQuiet(deadline.remaining());
    }

    /** Asks handlers to stop whose time is up. */
    public void cancelHandlers() {
        hand.all().forEach(attempt -> attempt.cancel(Attempt.Reason.SHUTDOWN));
    }

    /** How many handlers are at work. */
    public int running() {
        return hand.running();
    }

    /** Returns the messages of handlers that do not stop to ready, without costing an attempt. */
    public void giveUpHandlers() {
        for (Attempt<M> attempt : hand.all()) {
            boolean timedOut = attempt.isCancelled(Attempt.Reason.TIMED_OUT);
            giveUp(attempt, timedOut ? attempt.handling.didNotStop() : new Result.Stopped());
        }
    }

    /** How many connections are kept: for heartbeats where there are handlers, and for notifications where anybody heeds them. */
    public int keptConnections() {
        boolean handles = !hand.topics().isEmpty();
        boolean listens = options.common().wakeUp() && (handles || companion != Companion.NONE);
        return (handles ? 1 : 0) + (listens ? 1 : 0);
    }

    /** The topics that this node has handlers for. */
    public Set<String> topics() {
        return hand.topics();
    }

    /**
     * Writes what handlers left, when they have ended, and gives the connections back.
     *
     * @param late when to break off calls that are under way, in order to try again
     * @param end when to have ended
     */
    public void finish(Deadline late, Deadline end) {
        Loops writing = new Loops(completer.loops());
        writing.askToStop();
        loopsBesides().end(late, database);
        lostClaims.giveBack();
        if (writing.end(late, database)) {
            completer.writeRest(end);
        }
        watchdog.loop().askToStop();
        listener.askToStop();
        heartBeat.finish();
        listener.awaitEnd(end);
        database.end();
    }

    /** Those that may bring outcomes: what a claim took is given back. */
    private Loops loopsBesides() {
        List<Loop> loops = new ArrayList<>(maintenance.loops());
        loops.add(claimer.loop());
        loops.add(lostClaims.loop());
        return new Loops(loops);
    }

    /** Ends all calls that hang; no other begins. */
    public void abort() {
        database.end();
        heartBeat.abort();
        listener.abort();
    }

    /** How many messages are in hand, and so have an outcome that has not been written. */
    public int inHand() {
        return hand.all().size();
    }
}
