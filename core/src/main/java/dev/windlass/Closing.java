package dev.windlass;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.inbox.InboxNode;
import dev.windlass.internal.lease.LeaseNode;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.schedule.ScheduleNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a node: everything is told to stop first, then waited for together, against one deadline.
 *
 * <p>The thread that closes makes no call of the database, which may never answer: it waits for handlers, and for others that
 * do. When its time is over it breaks off what hangs, and goes.
 */
final class Closing {
    private static final Logger log = LoggerFactory.getLogger(Windlass.class);

    /** How long after the grace period all is over. */
    private static final Duration AFTER_GRACE = Duration.ofSeconds(2);

    /** How long handlers have that were asked to stop. */
    private static final Duration LAST_CALL = Duration.ofMillis(700);

    /** How long what is under way has after the grace period. */
    private static final Duration SHORTLY = Duration.ofMillis(300);

    /** How much of the time is left, at least, to write on other connections what hangs on one. */
    private static final Duration LAST_TRY = Duration.ofSeconds(1);

    private final MinuteByMinute minutes;
    private final String name;
    private final Node node;
    private final Loop starter;
    private final ScheduleNode schedule;
    private final LeaseNode leases;
    private final InboxNode inbox;
    private final List<Dispatcher<?>> dispatchers;
    private Deadline grace = in(Duration.ZERO);
    private boolean interrupted;
    private int unstarted;
    private int asked;
    private int cutOff;

    /**
     * @param starter of a start that may be under way
     */
    Closing(FeatureNodes nodes, Loop starter) {
        this.minutes = nodes.minutes();
        this.name = nodes.database.name();
        this.node = nodes.node;
        this.starter = starter;
        this.schedule = nodes.schedule;
        this.leases = nodes.leases;
        this.inbox = nodes.inbox;
        this.dispatchers = List.of(inbox.dispatcher(), nodes.work.dispatcher(), nodes.outbox.dispatcher());
    }

    /** An interrupt ends the grace period, not the orderly end. Returns whether there was one. */
    boolean run(Deadline graceEnds) {
        starter.askToStop();
        minutes.askToStop();
        node.lookout().askToStop();
        schedule.askToStop();
        leases.askLeadersToStop();
        unstarted = dispatchers.stream().mapToInt(Dispatcher::askToStop).sum();
        grace = graceEnds;
        boolean quiet = within(grace, this::awaitHandlers);
        leases.askToStop();
        quiet &= within(grace, leases::awaitWork);
        if (!quiet) {
            lastCall();
        }
        finish(new Deadline(grace.clock(), grace.atNanos() + AFTER_GRACE.toNanos()));
        return interrupted;
    }

    private static Deadline in(Duration time) {
        return Deadline.in(MonotonicClock.system(), time);
    }

    private interface Waiting {
        boolean until(Deadline deadline) throws InterruptedException;
    }

    private boolean within(Deadline deadline, Waiting waiting) {
        try {
            return waiting.until(interrupted ? in(Duration.ZERO) : deadline);
        } catch (InterruptedException e) {
            interrupted = true;
            grace = in(Duration.ZERO);
            return false;
        }
    }

    private boolean awaitHandlers(Deadline deadline) throws InterruptedException {
        boolean quiet = true;
        for (Dispatcher<?> dispatcher : dispatchers) {
            quiet &= dispatcher.awaitHandlers(deadline);
        }
        return quiet;
    }

    private void lastCall() {
        asked = running();
        dispatchers.forEach(Dispatcher::cancelHandlers);
        leases.interruptWork();
        Deadline deadline = in(LAST_CALL);
        try {
            awaitHandlers(deadline);
            leases.awaitWork(deadline);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        cutOff = running();
        dispatchers.forEach(Dispatcher::giveUpHandlers);
    }

    private int running() {
        return dispatchers.stream().mapToInt(Dispatcher::running).sum();
    }

    /** What became of work that was not done, for the log. */
    String told() {
        StringJoiner told = new StringJoiner("; ", "; ", "").setEmptyValue("");
        if (unstarted > 0) {
            told.add("gave back " + unstarted + " messages that had not been begun");
        }
        if (asked > 0) {
            told.add(asked + " handlers were asked to stop when their time was up");
        }
        if (cutOff > 0) {
            told.add(cutOff + " did not stop and were cut off; their messages were given back, and may run again");
        }
        return told.toString();
    }

    /** What is under way has the rest of the grace period; then it is broken off, and there is a last try. */
    private void finish(Deadline end) {
        Deadline late =
                earlier(later(grace, in(SHORTLY)), new Deadline(end.clock(), end.atNanos() - LAST_TRY.toNanos()));
        List<FutureTask<Boolean>> parts = new ArrayList<>();
        dispatchers.forEach(dispatcher -> begin(parts, () -> dispatcher.finish(late, end)));
        begin(parts, () -> schedule.finish(late));
        begin(parts, () -> leases.finish(end));
        begin(parts, inbox::stopRenewing);
        starter.awaitEnd(earlier(end, in(AFTER_GRACE)));
        starter.interrupt();
        parts.forEach(part -> await(part, end));
        node.end(end);
        abort(parts);
        report();
        dispatchers.forEach(Dispatcher::abandon);
    }

    private static Deadline earlier(Deadline one, Deadline other) {
        return one.remaining().compareTo(other.remaining()) < 0 ? one : other;
    }

    private static Deadline later(Deadline one, Deadline other) {
        return one.remaining().compareTo(other.remaining()) < 0 ? other : one;
    }

    private void begin(List<FutureTask<Boolean>> parts, Runnable part) {
        FutureTask<Boolean> task = new FutureTask<>(part, true);
        try {
            parts.add(task);
            node.workers().runLoop(task);
        } catch (RejectedExecutionException e) {
            task.run(); // those who share the threads have ended them: this node was just being opened
        } catch (OutOfMemoryError e) {
            parts.remove(task);
            log.warn("[{}] found no thread to end a part of the node in order", name, e);
        }
    }

    private void await(FutureTask<Boolean> part, Deadline end) {
        try {
            part.get(end.remaining().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
            await(part, end);
        } catch (ExecutionException e) {
            log.warn("[{}] a part of the node did not end in order", name, e.getCause());
        } catch (TimeoutException e) {
            log.debug("[{}] a part of the node does not end", name, e);
        }
    }

    /** Also if all went well: nobody uses a closed node's connections. */
    private void abort(List<FutureTask<Boolean>> parts) {
        parts.forEach(part -> part.cancel(true));
        dispatchers.forEach(Dispatcher::abort);
        schedule.abort();
        leases.abort();
    }

    private void report() {
        int unwritten = dispatchers.stream().mapToInt(Dispatcher::inHand).sum();
        if (unwritten > 0) {
            log.warn(
                    "[{}] closed before the outcomes of {} messages could be written; their leases will run out",
                    name,
                    unwritten);
        }
    }
}
