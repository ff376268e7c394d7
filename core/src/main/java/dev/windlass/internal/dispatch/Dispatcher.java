package dev.windlass.internal.dispatch;

import dev.windlass.base.Deadline;
import dev.windlass.base.QueueKind;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.loop.Lookout;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Loops;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Signal;
import dev.windlass.internal.loop.Signals;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.KeepingStore;
import dev.windlass.internal.queue.WorkStore;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims, handles and completes the work of one table until it is stopped. See the package for how the parts fit. */
public final class Dispatcher<M> {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);
    private static final long ASK_FOR_OTHERS_NANOS = Duration.ofMinutes(1).toNanos();

    private final Database database;
    private final WorkStore<M> store;
    private final Node node;
    private final Signals signals;
    private final String channel;
    private final Lanes<M> lanes;
    private final Capacity<M> capacity;
    private final InHand<M> inHand;
    private final LostClaims<M> lostClaims;
    private final Completer<M> completer;
    private final HeartBeat<M> heartBeat;
    private final Watchdog<M> watchdog;
    private final HandlerRunner<M> runner;
    private final Intake<M> intake;
    private final Claimer<M> claimer;
    private final @Nullable FirstHand<M> firstHand;
    private final Maintenance<M> maintenance;
    private final Announcer announcer;
    private final QueueEvents events;
    private long askedForOthers = System.nanoTime() - ASK_FOR_OTHERS_NANOS;

    public Dispatcher(
            Database database,
            Node node,
            WorkStore<M> store,
            String channel,
            Map<String, Handling<M>> handlings,
            DispatcherOptions options,
            QueueKind queue) {
        events = new QueueEvents(database, queue);
        Database answering = database.answeringWithin(LONGEST_CALL);
        this.database = answering;
        this.store = store;
        this.node = node;
        Workers workers = node.workers();
        this.signals = node.signals();
        this.channel = channel;
        lanes = new Lanes<>(
                handlings, options.queue().concurrency(), options.queue().lease(), store.ranking());
        capacity = new Capacity<>(
                lanes, options.queue().batchSize(), options.queue().lease(), options.maxBytesInHand());
        inHand = new InHand<>(lanes, change -> node.turnstile().inHand(node.name(), change));
        lostClaims = new LostClaims<>(answering, store, options.queue().lease(), workers);
        OutcomeCalls<M> calls =
                new OutcomeCalls<>(answering, store, options.queue().lease(), lostClaims, capacity, this::taken);
        completer = new Completer<>(
                database.name(),
                late -> new OutcomeWriter<>(answering, calls, events, late::putOff, this::settled),
                workers,
                BatchSize.MOST);
        announcer = new Announcer(answering, channel, workers, options.common().wakeUp());
        heartBeat =
                new HeartBeat<>(answering, store, inHand, node, options.queue().lease());
        runner = new HandlerRunner<>(
                answering,
                store,
                inHand,
                heartBeat,
                completer,
                new HandlerLog(database.name(), events, options.common().retriesAsWarnings()),
                events,
                node,
                this::circuitChanged);
        watchdog = new Watchdog<>(
                database.name(),
                inHand,
                workers,
                options.queue().lease(),
                shortestTimeout(handlings),
                runner::giveUp,
                completer::release);
        intake = new Intake<>(
                answering,
                inHand,
                completer,
                runner,
                watchdog,
                heartBeat,
                events,
                node,
                options.queue().maxLeaseExpiries());
        claimer = new Claimer<>(answering, store, capacity, heartBeat, lostClaims, intake, completer, options, node);
        firstHand =
                store instanceof KeepingStore<M> keeping && !node.turnstile().isShared()
                        ? new FirstHand<>(
                                answering,
                                database,
                                keeping,
                                capacity,
                                heartBeat,
                                intake,
                                claimer::wake,
                                options.queue().lease(),
                                node)
                        : null;
        maintenance = new Maintenance<>(
                answering, store, events, node, options.queue().lease(), claimer::wake);
    }

    private static <M> Duration shortestTimeout(Map<String, Handling<M>> handlings) {
        return handlings.values().stream()
                .map(handling -> handling.options().timeout())
                .min(Duration::compareTo)
                .orElse(Duration.ofMinutes(1));
    }

    public void start() {
        maintenance.start();
        if (!lanes.topics().isEmpty()) {
            completer.start();
            lostClaims.start();
            heartBeat.start();
            watchdog.start();
            if (firstHand != null) {
                firstHand.start();
            }
            claimer.start();
            signals.subscribe(channel, this::heard);
        }
        node.lookout().add(new Watcher());
    }

    /** What a look at all features asks of this queue, and what follows from it. */
    private final class Watcher implements Lookout.Watcher {
        @Override
        public Duration period() {
            return maintenance.period();
        }

        @Override
        public Call asks(Connection connection) {
            boolean others = System.nanoTime() - askedForOthers >= ASK_FOR_OTHERS_NANOS;
            if (others) {
                askedForOthers = System.nanoTime();
            }
            return store.look(connection, others || claimer.isResting() ? List.copyOf(lanes.topics()) : null, others);
        }

        @Override
        public Duration sees(Lookout.Seen seen) {
            if (claimer.isResting()) {
                seen.dueIn().ifPresent(claimer::due);
            }
            return maintenance.sees(seen);
        }
    }

    /** Whether this node would start a message of this topic at once, so that others need not be told of it. */
    public boolean hasPlace(String topic) {
        return capacity.hasPlace(topic) && runner.hasPlace();
    }

    /** A place for a message that is about to be written, to be in progress here from its commit on; null if there is none. */
    public FirstHand<M>.@Nullable Place keep(String topic, UUID message, int size) {
        return firstHand != null && runner.hasPlace() ? firstHand.keep(topic, message, size) : null;
    }

    /** The owner that holds a message of an open transaction that this node has kept; null if it has not. */
    public @Nullable UUID keeperOf(UUID message) {
        return firstHand == null ? null : firstHand.ownerOf(message);
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
        if (lanes.handles(topic)) {
            capacity.isNotDrained(topic);
            claimer.wake();
        }
    }

    /**
     * A message of this topic has been written by this process, and may be committed soon.
     *
     * @param announced whether the commit sends a notification, which this process hears too
     */
    public void written(String topic, boolean announced) {
        if (lanes.handles(topic)) {
            capacity.isNotDrained(topic);
            if (!(announced && signals.areHeard())) {
                claimer.expect();
            }
        }
    }

    private void heard(Signal signal) {
        switch (signal.kind()) {
            case TOPICS -> claimer.pausesChanged();
            case CANCEL -> heartBeat.renewAll();
            case READY -> ready(signal);
            case MISSED -> {
                claimer.pausesChanged();
                heartBeat.renewAll();
            }
            case PROOF, UNKNOWN -> log.debug("[{}] heard {}", database.name(), signal);
        }
    }

    private void ready(Signal signal) {
        if (signal.isAboutAll()) {
            claimer.expect();
            claimer.wake();
        } else if (lanes.handles(signal.subject())) {
            capacity.isNotDrained(signal.subject());
            claimer.wake();
        }
    }

    /** The next messages of keys. A method, since the intake needs the completer, and the completer this. */
    private void taken(List<Claimed<M>> messages, long leaseUntil) {
        intake.accept(messages, leaseUntil);
    }

    private void circuitChanged() {
        completer.release(inHand.recall());
        claimer.wake();
    }

    private void settled(Collection<Attempt<M>> attempts, boolean anyReady) {
        runner.hire(inHand.settle(attempts));
        if (attempts.stream().anyMatch(attempt -> attempt.lane.limited)) {
            announcer.announceSoon(); // what ends here leaves a place that others can take
        }
        if (attempts.stream().anyMatch(attempt -> attempt.claimed.awaited())) {
            node.committed();
        }
        if (anyReady) {
            claimer.wake();
        } else {
            claimer.roomFreed();
        }
    }

    /** Takes nothing more, and returns what has not been started. Waits for nothing. Returns how many those are. */
    public int askToStop() {
        List<Attempt<M>> unstarted = inHand.close();
        completer.release(unstarted);
        if (firstHand != null) {
            firstHand.close();
        }
        runner.close();
        claimer.close();
        maintenance.loops().forEach(Loop::askToStop);
        return unstarted.size();
    }

    /** Waits for handlers, while their leases are renewed. Returns whether all have ended. */
    public boolean awaitHandlers(Deadline deadline) throws InterruptedException {
        return inHand.awaitQuiet(deadline.remaining());
    }

    /** Asks handlers to stop whose time is up. */
    public void cancelHandlers() {
        inHand.all().forEach(attempt -> attempt.cancel(Attempt.Reason.SHUTDOWN));
    }

    /** How many handlers are at work. */
    public int running() {
        return inHand.running();
    }

    /** Returns the messages of handlers that do not stop to ready, without costing an attempt. */
    public void giveUpHandlers() {
        for (Attempt<M> attempt : inHand.all()) {
            boolean timedOut = attempt.isCancelled(Attempt.Reason.TIMED_OUT);
            runner.giveUp(attempt, timedOut ? attempt.handling.didNotStop() : new Result.Stopped());
        }
    }

    /** The topics that this node has handlers for. */
    public Set<String> topics() {
        return lanes.topics();
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
        if (firstHand != null) {
            firstHand.giveBackAll();
        }
        if (writing.end(late, database)) {
            completer.writeRest(end);
        }
        watchdog.loop().askToStop();
        heartBeat.finish();
        database.end();
    }

    /** Those that may bring outcomes: what a claim took is given back. */
    private Loops loopsBesides() {
        List<Loop> loops = new ArrayList<>(maintenance.loops());
        loops.addAll(claimer.loops());
        loops.add(lostClaims.loop());
        if (firstHand != null) {
            loops.addAll(firstHand.loops());
        }
        return new Loops(loops);
    }

    /** All that runs here in the background. */
    public List<Loop> loops() {
        List<Loop> loops = new ArrayList<>(loopsBesides().all());
        loops.addAll(completer.loops());
        loops.add(heartBeat.loop());
        loops.add(watchdog.loop());
        return loops;
    }

    public QueueKind queue() {
        return events.queue();
    }

    public long claimed() {
        return events.claimed();
    }

    public long settled() {
        return events.settled();
    }

    /** How many messages this node holds although their leases could not be renewed in time. */
    public long lapsed() {
        long now = System.nanoTime();
        return inHand.all().stream()
                .filter(attempt -> attempt.leaseLeft(now) <= 0)
                .count();
    }

    /** Ends all calls that hang; no other begins. */
    public void abort() {
        database.end();
    }

    /** What is left in hand is not counted any more. */
    public void abandon() {
        inHand.abandon();
    }

    /** How many messages are in hand, and so have an outcome that has not been written. */
    public int inHand() {
        return inHand.size();
    }
}
