package dev.windlass.internal.inbox;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.NotYet;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.DeadMessageException;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.InboxWork;
import dev.windlass.inbox.Processed;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.inbox.StillInProgressException;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.inbox.GuardStore.Renewal;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.Require;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inbox as a guard: begins attempts, ends them, and lets callers wait for each other. */
final class Guard {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final Duration RENEWAL_PATIENCE = Duration.ofSeconds(1);
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private final Database database;
    private final GuardStore store;
    private final InboxOptions options;
    private final Transactions transactions;
    private final Renewals renewals;
    private final ContentChanges contentChanges;
    private final Waiters waiters;
    private final ThreadAttempts mine;
    private final GuardEvents events;

    Guard(
            Database database,
            GuardStore store,
            InboxOptions options,
            Transactions transactions,
            Renewals renewals,
            Waiters waiters,
            ContentChanges contentChanges) {
        this.database = database;
        this.store = store;
        this.options = options;
        this.transactions = transactions;
        this.renewals = renewals;
        this.waiters = waiters;
        this.contentChanges = contentChanges;
        this.mine = new ThreadAttempts(options.guardLease().toNanos() * 2);
        this.events = new GuardEvents(
                database, options.guardLease().plus(options.renewAtMost()).toNanos());
    }

    Begin begin(InboxKey key, @Nullable ContentHash hash) {
        Begin begin = begin(key, hash, true);
        if (begin.contentDiffers()) {
            contentChanges.report(key);
        }
        if (begin instanceof Begin.Proceed proceed) {
            events.begins(proceed.attempt());
            log.debug(
                    "[{}] attempt {} of message {} begins",
                    database.name(),
                    proceed.attempt().number(),
                    key);
        }
        return begin;
    }

    /** Repeated with the same token, so that a try whose answer was lost gets it once more. */
    private Begin begin(InboxKey key, @Nullable ContentHash hash, boolean arrival) {
        OwnerToken owner = OwnerToken.fresh();
        return database.alone(
                "begin message " + key,
                connection -> store.begin(
                        connection, key, owner, options.guardLease(), options.maxAttempts(), hash, arrival));
    }

    void markProcessing(InboxAttempt attempt) {
        Require.present("attempt", attempt);
        Deadline deadline = Deadline.in(MonotonicClock.system(), RENEWAL_PATIENCE);
        Renewal renewal = renew(attempt);
        while (renewal == Renewal.LOCKED) {
            if (deadline.remaining().isZero() || !paused()) {
                throw new WindlassException(locked("renew message " + attempt.key()));
            }
            renewal = renew(attempt);
        }
        requireHeld(renewal == Renewal.RENEWED, attempt);
    }

    private Renewal renew(InboxAttempt attempt) {
        return database.alone(
                "renew message " + attempt.key(),
                connection -> store.renew(connection, List.of(attempt), options.guardLease())
                        .get(0));
    }

    /** Returns whether it was not interrupted. */
    private static boolean paused() {
        try {
            TimeUnit.NANOSECONDS.sleep(FIRST_PAUSE);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    void markProcessed(InboxAttempt attempt) {
        Require.present("attempt", attempt);
        boolean marked = marking(
                "mark message " + attempt.key() + " as processed",
                connection -> store.markDone(connection, attempt, true));
        if (marked) {
            events.done(attempt);
        }
        ended(attempt, marked);
    }

    /** Whether the caller commits is not known here: the work has ended in any case. */
    void markProcessed(Connection connection, InboxAttempt attempt) {
        Require.present("attempt", attempt);
        mark(connection, attempt);
        events.done(attempt);
    }

    private void mark(Connection connection, InboxAttempt attempt) {
        String what = "mark message " + attempt.key() + " as processed";
        boolean marked = unlocked(
                what, () -> database.within(connection, what, callers -> store.markDone(callers, attempt, false)));
        requireHeld(marked, attempt);
        waiters.expect(attempt.key());
    }

    private <T> T marking(String what, Database.Work<T> mark) {
        return unlocked(what, () -> database.alone(what, mark));
    }

    private <T> T unlocked(String what, Supplier<T> mark) {
        try {
            return mark.get();
        } catch (WindlassException e) {
            throw e.getCause() instanceof SQLException cause && isLocked(cause)
                    ? new WindlassException(locked(what), cause)
                    : e;
        }
    }

    private static boolean isLocked(SQLException e) {
        return LOCK_NOT_AVAILABLE.equals(e.getSQLState());
    }

    private String locked(String what) {
        return ("[%s] could not %s, because another transaction keeps its row locked; roll back what was done together with"
                        + " it, if anything, and try again")
                .formatted(database.name(), what);
    }

    void markDead(InboxAttempt attempt, String reason) {
        Require.present("attempt", attempt);
        ended(attempt, markRefused(attempt, ErrorText.bounded(Require.storable("reason", reason))));
    }

    private boolean markRefused(InboxAttempt attempt, String reason) {
        boolean marked = marking(
                "mark message " + attempt.key() + " as failed",
                connection -> store.markDead(connection, attempt, reason));
        if (marked) {
            events.failed(attempt, reason);
            log.error(
                    "[{}] message {} has been given up in attempt {}",
                    database.name(),
                    attempt.key(),
                    attempt.number());
        }
        return marked;
    }

    boolean abandon(InboxAttempt attempt, String error, Duration delay) {
        Require.present("attempt", attempt);
        Require.notNegative("delay", delay);
        Optional<WorkStatus> status =
                markFailed(attempt, ErrorText.bounded(Require.storable("error text", error)), delay);
        ended(attempt, status.isPresent());
        return status.orElseThrow() != WorkStatus.FAILED;
    }

    /** The second time changes nothing that the first time did, but cannot tell it from a lost attempt. */
    private Optional<WorkStatus> markFailed(InboxAttempt attempt, String error, Duration delay) {
        boolean[] tried = {false};
        Optional<WorkStatus> status = marking("abandon message " + attempt.key(), connection -> {
            boolean again = tried[0];
            tried[0] = true;
            Optional<WorkStatus> now = store.abandon(connection, attempt, error, delay, options.maxAttempts());
            return now.isEmpty() && again
                    ? store.find(connection, attempt.key()).map(SeenMessage::status)
                    : now;
        });
        if (status.filter(WorkStatus.READY::equals).isPresent()) {
            events.retried(attempt, delay, error);
        }
        if (status.filter(WorkStatus.FAILED::equals).isPresent()) {
            events.failed(attempt, error);
            log.error(
                    "[{}] message {} has been given up: attempt {} was its last",
                    database.name(),
                    attempt.key(),
                    attempt.number());
        }
        return status;
    }

    private void ended(InboxAttempt attempt, boolean held) {
        if (mine.find(attempt.key()).filter(attempt::equals).isPresent()) {
            mine.forget(attempt.key());
        }
        waiters.call(attempt.key());
        if (!held) {
            events.stopped(attempt);
        }
        requireHeld(held, attempt);
    }

    private void requireHeld(boolean held, InboxAttempt attempt) {
        if (!held) {
            throw new AttemptLostException(
                    ("[%s] expected attempt %d of message %s to be this caller's and under way, but it was lost after its"
                                    + " lease ran out, or has ended before; roll back what was done just now")
                            .formatted(database.name(), attempt.number(), attempt.key()));
        }
    }

    /** The attempt that {@link #alreadyProcessed} gave to this thread. */
    InboxAttempt mine(InboxKey key) {
        return mine.find(key)
                .orElseThrow(() -> new IllegalStateException(("[%s] expected this thread to own message %s, as after"
                                + " alreadyProcessed has answered false; it does not. Other threads need the attempt"
                                + " that begin gives")
                        .formatted(database.name(), key)));
    }

    boolean alreadyProcessed(InboxKey key, @Nullable ContentHash hash) {
        requireNoTransaction("alreadyProcessed", key);
        Begin begin = begin(key, hash);
        return begin instanceof Begin.InProgress ? await(key, hash) : isProcessed(key, begin);
    }

    /** It would commit the end of the message before the transaction around it, or wait for others while that is open. */
    private void requireNoTransaction(String method, InboxKey key) {
        if (transactions.areOpenHere()) {
            throw new IllegalStateException(("[%s] expected %s of message %s outside of a transaction, got it inside"
                            + " of one; use begin, which does not wait, and markProcessed with the connection")
                    .formatted(database.name(), method, key));
        }
    }

    private boolean isProcessed(InboxKey key, Begin begin) {
        if (begin instanceof Begin.Proceed proceed) {
            mine.remember(proceed.attempt());
            return false;
        }
        if (begin instanceof Begin.Dead) {
            throw new DeadMessageException(
                    "[%s] message %s was given up: it has not been processed, and will not be until it is requeued"
                            .formatted(database.name(), key));
        }
        return true;
    }

    private boolean await(InboxKey key, @Nullable ContentHash hash) {
        Deadline deadline = Deadline.in(MonotonicClock.system(), options.waitAtMost());
        try (Waiters.Place place = waiters.enter(key)) {
            for (long pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
                int calls = place.calls();
                Begin begin = begin(key, hash, false);
                if (!(begin instanceof Begin.InProgress busy)) {
                    return isProcessed(key, begin);
                }
                long left = deadline.remaining().toNanos();
                if (left == 0) {
                    throw stillInProgress(key);
                }
                place.await(calls, Math.min(left, pause(pause, busy.remaining())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WindlassException(
                    "[%s] interrupted while waiting for the outcome of message %s".formatted(database.name(), key), e);
        }
    }

    /** A part is random, so that those who wait do not all look at once. */
    private static long pause(long longest, Duration remaining) {
        long nanos = remaining.isZero() ? longest : Math.min(longest, remaining.toNanos());
        return nanos - ThreadLocalRandom.current().nextLong(nanos / 4 + 1);
    }

    private StillInProgressException stillInProgress(InboxKey key) {
        String whose = mine.find(key).isPresent()
                ? "; this thread has begun it itself and neither marked nor abandoned it"
                : "; ask again, or use begin, which does not wait";
        return new StillInProgressException("[%s] message %s was still in progress after %s%s"
                .formatted(database.name(), key, InWords.of(options.waitAtMost()), whose));
    }

    Processed process(InboxKey key, @Nullable ContentHash hash, InboxWork work) throws Exception {
        requireNoTransaction("process", key);
        Begin begin = begin(key, hash);
        if (begin instanceof Begin.Proceed proceed) {
            run(proceed.attempt(), work);
        }
        return new Processed(outcome(begin), begin.contentDiffers());
    }

    private static Processed.Outcome outcome(Begin begin) {
        if (begin instanceof Begin.Proceed) {
            return Processed.Outcome.PROCESSED;
        }
        if (begin instanceof Begin.InProgress) {
            return Processed.Outcome.IN_PROGRESS;
        }
        return begin instanceof Begin.Done ? Processed.Outcome.ALREADY_PROCESSED : Processed.Outcome.DEAD;
    }

    private void run(InboxAttempt attempt, InboxWork work) throws Exception {
        try {
            runRenewing(attempt, work);
            events.done(attempt);
        } catch (Throwable e) {
            record(attempt, e);
            events.stopped(attempt);
            throw e;
        } finally {
            waiters.call(attempt.key());
        }
    }

    private void runRenewing(InboxAttempt attempt, InboxWork work) throws Exception {
        Renewals.Term term = renewals.open(attempt);
        try {
            transactions.run(connection -> {
                work.run(connection);
                mark(connection, attempt);
                return true;
            });
        } finally {
            term.end();
        }
    }

    /** Changes nothing if the attempt was lost, or if its end was committed and only the answer was lost. */
    private void record(InboxAttempt attempt, Throwable failure) {
        boolean interrupted = Thread.interrupted(); // or some pools give no connection
        try {
            String error = ErrorText.of(database.safe(failure));
            if (failure instanceof PermanentFailure) {
                markRefused(attempt, error);
            } else {
                markFailed(attempt, error, pause(failure));
            }
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Duration pause(Throwable failure) {
        if (failure instanceof NotYet notYet) {
            return notYet.delay();
        }
        return failure instanceof RetryAfter after ? after.delay() : Duration.ZERO;
    }

    Optional<SeenMessage> find(InboxKey key) {
        return database.retrying("read message " + key, connection -> store.find(connection, key));
    }

    /** This thread has committed a transaction, in which messages may have been marked. */
    void committed() {
        waiters.committed();
    }
}
