package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.SqlError;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Places;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.trace.Tracing;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Runs handlers on worker threads, and says what is to be written about each. */
final class HandlerRunner<M> {
    private static final Logger log = LoggerFactory.getLogger(HandlerRunner.class);

    private static final String MESSAGE = "windlass.message";
    private static final String CORRELATION = "windlass.correlation";

    private final Database database;
    private final WorkStore<M> store;
    private final InHand<M> inHand;
    private final HeartBeat<M> heartBeat;
    private final Completer<M> completer;
    private final HandlerLog handlerLog;
    private final QueueEvents events;
    private final Workers workers;
    private final Places places;
    private final Runnable circuitChanged;
    private volatile boolean closed;

    /**
     * @param circuitChanged called when a topic begins to rest, or works again
     */
    HandlerRunner(
            Database database,
            WorkStore<M> store,
            InHand<M> inHand,
            HeartBeat<M> heartBeat,
            Completer<M> completer,
            HandlerLog handlerLog,
            QueueEvents events,
            Node node,
            Runnable circuitChanged) {
        this.database = database;
        this.store = store;
        this.inHand = inHand;
        this.heartBeat = heartBeat;
        this.completer = completer;
        this.handlerLog = handlerLog;
        this.events = events;
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
        if (!(result instanceof Result.Done)) {
            part(attempt);
        }
        long took = attempt.end();
        Optional<InHand.Over<M>> over = inHand.ended(attempt, took, result);
        if (over.isEmpty()) {
            handlerLog.endedLate(attempt, result);
            return false;
        }
        Breaker.Effect effect = over.get().effect();
        long each = took / (over.get().companions().size() + 1);
        over.get().companions().forEach(companion -> concludeSurely(companion, each));
        Outcome outcome = attempt.handling.outcome(result, attempt.claimed.retryCount(), effect);
        handlerLog.ended(attempt, result, outcome, effect);
        conclude(attempt, outcome, each);
        if (effect.isChange()) {
            circuitChanged.run();
        }
        return true;
    }

    /** Whatever goes wrong with one of them, the others end in order. */
    private void concludeSurely(Attempt<M> companion, long took) {
        try {
            conclude(companion, new Outcome.Done(), took);
        } catch (Throwable e) {
            letGo(companion, e);
        }
    }

    private void conclude(Attempt<M> attempt, Outcome outcome, long took) {
        completer.add(attempt, outcome);
        events.handled(attempt.claimed, outcome, attempt.heldBeforeStart(), took);
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
            traced(attempt, message, () -> {
                if (!isHandledTogether(attempt)) {
                    handling.handle(message, attempt);
                }
            });
            return attempt.isOverdue() && !attempt.isEndedByHandler() ? handling.didNotStop() : new Result.Done();
        } catch (Throwable e) {
            return afterFailure(attempt, e);
        }
    }

    /** What the handler logs, and what it traces, tells which message it was. What it leaves in the context is not for the next one. */
    private void traced(Attempt<M> attempt, M message, Tracing.Work handler) throws Exception {
        MDC.put(MESSAGE, attempt.claimed.id().toString());
        store.origin(message).correlationId().ifPresent(correlation -> MDC.put(CORRELATION, correlation));
        try {
            if (database.tracing() == Tracing.NONE) {
                handler.run();
            } else {
                Tracing.Received received = received(attempt, message);
                new TracedWork(database, handler).run(work -> database.tracing().handled(received, work));
            }
        } finally {
            MDC.clear();
        }
    }

    private Tracing.Received received(Attempt<M> attempt, M message) {
        WorkStore.Origin origin = store.origin(message);
        return new Tracing.Received(
                database.store(),
                events.queue(),
                attempt.claimed.topic(),
                attempt.claimed.id().toString(),
                attempt.claimed.retryCount() + 1,
                origin.correlationId(),
                origin.headers());
    }

    /**
     * Handles it with others, if its handler takes several and others wait. If that fails, it is not known whose fault it is: they wait
     * again, and each has a call of its own, this one at once.
     */
    private boolean isHandledTogether(Attempt<M> attempt) throws Exception {
        List<Attempt<M>> together = inHand.gather(attempt);
        if (together.size() == 1) {
            return false;
        }
        try {
            handleAll(together);
            return true;
        } catch (Throwable e) {
            part(attempt);
            if (e instanceof NotStartedException || !attempt.beginAgain()) {
                throw e;
            }
            handlerLog.failedTogether(attempt, together.size(), database.safe(e));
            return false;
        }
    }

    private void handleAll(List<Attempt<M>> together) throws Exception {
        List<M> messages =
                together.stream().map(each -> each.claimed.readable()).toList();
        Tracing.Work handler = () -> together.get(0).handling.handleAll(messages, together);
        if (database.tracing() == Tracing.NONE) {
            handler.run();
            return;
        }
        List<Tracing.Received> received = together.stream()
                .map(each -> received(each, each.claimed.readable()))
                .toList();
        new TracedWork(database, handler)
                .run(work -> database.tracing()
                        .handledTogether(received.get(0), received.subList(1, received.size()), work));
    }

    private void part(Attempt<M> attempt) {
        InHand.Taken<M> parted = inHand.part(attempt);
        completer.release(parted.back());
        hire(parted.workers());
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

    /**
     * Goes on without a handler that does not return, unless too many have been given up. Those that were to be handled with it go on
     * in any case: nobody else could have them while their leases are renewed.
     */
    void giveUp(Attempt<M> attempt, Result result) {
        part(attempt);
        inHand.detach(attempt, result).ifPresent(effect -> {
            Outcome outcome = attempt.handling.outcome(result, attempt.claimed.retryCount(), effect);
            completer.add(attempt, outcome);
            events.handled(attempt.claimed, outcome, attempt.heldBeforeStart(), attempt.runningFor(System.nanoTime()));
            if (effect.isChange()) {
                circuitChanged.run();
            }
            places.giveBack(this);
            handlerLog.givenUp(attempt, result, effect);
        });
    }
}
