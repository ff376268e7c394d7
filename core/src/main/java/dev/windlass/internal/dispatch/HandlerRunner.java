package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Places;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs handlers on worker threads, and says what is to be written about each. */
final class HandlerRunner<M> {
    private static final Logger log = LoggerFactory.getLogger(HandlerRunner.class);

    private final Database database;
    private final InHand<M> inHand;
    private final HeartBeat<M> heartBeat;
    private final Completer<M> completer;
    private final HandlerLog handlerLog;
    private final Telemetry telemetry;
    private final Workers workers;
    private final Places places;
    private final Runnable circuitChanged;
    private volatile boolean closed;

    /**
     * @param circuitChanged called when a topic begins to rest, or works again
     */
    HandlerRunner(
            Database database,
            InHand<M> inHand,
            HeartBeat<M> heartBeat,
            Completer<M> completer,
            HandlerLog handlerLog,
            Telemetry telemetry,
            Node node,
            Runnable circuitChanged) {
        this.database = database;
        this.inHand = inHand;
        this.heartBeat = heartBeat;
        this.completer = completer;
        this.handlerLog = handlerLog;
        this.telemetry = telemetry;
        this.workers = node.workers();
        this.places = node.places();
        this.circuitChanged = circuitChanged;
    }

    /** Starts as many workers, each of which runs one handler after the other, as soon as there are places for them. */
    void hire(int count) {
        for (int i = 0; i < count; i++) {
            takePlace();
        }
    }

    private void takePlace() {
        places.take(this, this::startWorker);
        if (closed) {
            inHand.dismiss(places.forget(this));
        }
    }

    private void startWorker() {
        try {
            workers.runHandlers(this::work);
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            inHand.dismiss(1);
            log.error("[{}] found no thread for a handler; going on with those there are", database.name(), e);
            places.giveBack(this);
        }
    }

    /** Whether a handler that is to start finds a place. */
    boolean hasPlace() {
        return places.hasFree(this);
    }

    /** Those who still wait for a place start nothing any more. */
    void close() {
        closed = true;
        inHand.dismiss(places.forget(this));
    }

    private void work() {
        for (Attempt<M> attempt; (attempt = inHand.next()) != null; ) {
            try {
                if (!handle(attempt)) {
                    return; // who gave it up has given its place back
                }
            } catch (Throwable e) {
                letGo(attempt, e);
            }
            if (places.areWanted() && !closed) {
                takePlace();
                break;
            }
        }
        places.giveBack(this);
    }

    /** Its outcome may not have been passed on, as for lack of memory. Then its lease runs out, and it is handled again. */
    private void letGo(Attempt<M> attempt, Throwable cause) {
        hire(inHand.settle(List.of(attempt)));
        log.error("[{}] could not end message {} in order", database.name(), attempt.claimed.id(), cause);
    }

    /** Runs one handler. Returns whether this thread may take the next message. */
    private boolean handle(Attempt<M> attempt) {
        Result result = result(attempt);
        long took = attempt.end();
        Optional<Breaker.Effect> effect = inHand.ended(attempt, took, result);
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
            return attempt.isOverdue() && !attempt.isEndedByHandler() ? handling.didNotStop() : new Result.Done();
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
    void giveUp(Attempt<M> attempt, Result result) {
        inHand.detach(attempt, result).ifPresent(effect -> {
            conclude(attempt, attempt.handling.outcome(result, attempt.claimed.retryCount(), effect), effect);
            places.giveBack(this);
            handlerLog.givenUp(attempt, result, effect);
        });
    }

    private void conclude(Attempt<M> attempt, Outcome outcome, Breaker.Effect effect) {
        completer.add(attempt, outcome);
        if (effect.isChange()) {
            circuitChanged.run();
        }
    }
}
