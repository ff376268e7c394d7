package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.support.InWords;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where all claimed messages come in, whoever claimed them: what has to be handled is, and of the rest it is decided at once. */
final class Intake<M> {
    private static final Logger log = LoggerFactory.getLogger(Intake.class);

    /** For so long others may look for a handler. */
    private static final Duration PUT_OFF = Duration.ofSeconds(10);

    private static final long QUIET_NANOS = Duration.ofMinutes(10).toNanos();

    private final Database database;
    private final InHand<M> inHand;
    private final Completer<M> completer;
    private final HandlerRunner<M> runner;
    private final Watchdog<M> watchdog;
    private final HeartBeat<M> heartBeat;
    private final QueueEvents events;
    private final Node node;
    private final int maxLeaseExpiries;
    private volatile long lastUnknown = System.nanoTime() - QUIET_NANOS;

    /**
     * @param maxLeaseExpiries so many crashes are the end of a message
     */
    Intake(
            Database database,
            InHand<M> inHand,
            Completer<M> completer,
            HandlerRunner<M> runner,
            Watchdog<M> watchdog,
            HeartBeat<M> heartBeat,
            QueueEvents events,
            Node node,
            int maxLeaseExpiries) {
        this.database = database;
        this.inHand = inHand;
        this.completer = completer;
        this.runner = runner;
        this.watchdog = watchdog;
        this.heartBeat = heartBeat;
        this.events = events;
        this.node = node;
        this.maxLeaseExpiries = maxLeaseExpiries;
    }

    /**
     * Takes them in inHand. If it throws, nothing of it is in inHand.
     *
     * @param leaseUntil when their lease runs out, by the monotonic clock
     */
    void accept(List<Claimed<M>> claimed, long leaseUntil) {
        log.debug("[{}] claimed {} messages", database.name(), claimed.size());
        node.busy();
        events.claimed(claimed.size());
        List<Attempt<M>> all = new ArrayList<>(claimed.size());
        for (Claimed<M> each : claimed) {
            all.add(inHand.attempt(each, leaseUntil));
        }
        try {
            start(all);
        } catch (Throwable e) {
            all.forEach(attempt -> attempt.cancel(Attempt.Reason.LEASE_LOST));
            inHand.settle(all);
            throw e;
        }
    }

    private void start(List<Attempt<M>> all) {
        List<Attempt<M>> toStart = new ArrayList<>(all.size());
        Map<Attempt<M>, Outcome> decisions = new LinkedHashMap<>();
        for (Attempt<M> attempt : all) {
            Optional<String> reason = hopeless(attempt);
            if (reason.isPresent()) {
                decisions.put(attempt, failed(attempt, reason.get()));
            } else if (attempt.isUnknown()) {
                decisions.put(attempt, unknown(attempt));
            } else {
                toStart.add(attempt);
            }
        }
        InHand.Taken<M> taken = inHand.take(all, toStart);
        completer.release(taken.back());
        runner.hire(taken.workers());
        heartBeat.begin();
        watchdog.wake();
        decisions.forEach(completer::add);
    }

    /**
     * Why not to try it at all. An operator who requeues a message wants to see it tried once more, however often it was; and how many
     * attempts one has that is unknown here, others know.
     */
    private Optional<String> hopeless(Attempt<M> attempt) {
        Claimed<M> claimed = attempt.claimed;
        if (claimed.problem() != null) {
            return Optional.of(claimed.problem());
        }
        if (claimed.crashes() >= maxLeaseExpiries) {
            return Optional.of("its lease ran out " + claimed.crashes()
                    + " times after its handler had been started: that may have ended the process");
        }
        int most = attempt.handling.options().retry().maxAttempts();
        return !attempt.isUnknown() && claimed.requeues() == 0 && claimed.retryCount() >= most
                ? Optional.of("no attempt is left after " + claimed.retryCount())
                : Optional.empty();
    }

    private Outcome failed(Attempt<M> attempt, String reason) {
        Claimed<M> claimed = attempt.claimed;
        log.error("[{}] message {} of topic {} has failed: {}", database.name(), claimed.id(), claimed.topic(), reason);
        return new Outcome.Fail(reason);
    }

    /** Another node may have a handler for it, or this one after the next deployment. */
    private Outcome unknown(Attempt<M> attempt) {
        long now = System.nanoTime();
        if (now - lastUnknown >= QUIET_NANOS) {
            lastUnknown = now;
            events.unhandled(attempt.claimed.topic());
            log.warn(
                    "[{}] this node has no handler for {} of {}, and for others like it maybe; they are put off by {} and tried"
                            + " again",
                    database.name(),
                    attempt.claimed.id(),
                    attempt.claimed.topic(),
                    InWords.of(PUT_OFF));
        }
        return new Outcome.Retry(PUT_OFF, "no handler for it on the node that claimed it last", false);
    }
}
