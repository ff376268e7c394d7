package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.QueueKind;
import dev.windlass.base.WindlassOptions;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.event.Listeners;
import dev.windlass.internal.health.LoopsCheck;
import dev.windlass.internal.inbox.InboxNode;
import dev.windlass.internal.lease.LeaseNode;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.outbox.OutboxNode;
import dev.windlass.internal.queue.Measuring;
import dev.windlass.internal.schedule.ScheduleNode;
import dev.windlass.internal.work.WorkNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What a Windlass consists of: a part for each feature, on one node and one database. Those that were not asked for lie idle. */
final class FeatureNodes {
    /** Every call of a loop is given up after a minute, and no step makes more than a few. */
    private static final Duration HANGS = Duration.ofMinutes(5);

    final Database database;
    final Node node;
    private final Listeners listeners;
    final Transactions transactions;
    final OutboxNode outbox;
    final LeaseNode leases;
    final InboxNode inbox;
    final WorkNode work;
    final ScheduleNode schedule;
    private final Set<Feature> features;
    private final boolean sharesWorkers;
    private final Measuring measuring;
    private final MinuteByMinute minutes;
    private final LoopsCheck loopsCheck;

    FeatureNodes(WindlassBuilder builder) {
        WindlassOptions options = builder.options;
        features = Set.copyOf(builder.features);
        sharesWorkers = builder.shared != null;
        Node.Shared shared = builder.shared == null ? Node.Shared.none(new Workers()) : builder.shared;
        Workers workers = shared.workers();
        listeners = Listeners.to(builder.listeners);
        Events events = listeners.and(builder.fleetListeners);
        database = builder.database(builder.dataSource, events).cancelling(workers::later);
        transactions = new Transactions(database, this::committed);
        Database background = builder.background == null
                ? database
                : builder.database(builder.background, events).cancelling(workers::later);
        node = new Node(database, background, shared, options.wakeUp(), options.maxPollingInterval());
        node.onCommit(this::committed);
        outbox = new OutboxNode(
                database,
                node,
                options,
                builder.outbox,
                builder.outboxHandlers.handlings(builder.outbox.queue().handlers(), handler -> handler::handle),
                builder.codec);
        leases = new LeaseNode(database, node, options, builder.leases, builder.clock);
        inbox = new InboxNode(
                database.named(database.name() + " inbox"),
                node,
                options,
                builder.inbox,
                builder.inboxHandlers,
                transactions,
                builder.codec);
        work = new WorkNode(
                database.named(database.name() + " work"),
                node,
                options,
                builder.work,
                builder.workHandlers,
                transactions,
                builder.codec);
        schedule = new ScheduleNode(
                database.named(database.name() + " schedule"),
                node,
                options,
                builder.outbox.tableName(),
                builder.schedule,
                List.copyOf(builder.jobs.values()),
                List.copyOf(builder.ownJobs.values()),
                outbox,
                builder.codec);
        measuring = measuring(builder);
        minutes = new MinuteByMinute(builder, this);
        loopsCheck = new LoopsCheck(this::loops, database, HANGS);
    }

    LoopsCheck loopsCheck() {
        return loopsCheck;
    }

    /** All that runs in the background, of the features that were asked for. Not the start, which may build a schema for as long as it takes. */
    private List<Loop> loops() {
        List<Loop> loops = new ArrayList<>(node.loops());
        loops.add(minutes.loop());
        dispatchers().forEach(dispatcher -> loops.addAll(dispatcher.loops()));
        if (has(Feature.SCHEDULE)) {
            loops.addAll(schedule.loops());
        }
        if (has(Feature.LEASES)) {
            loops.addAll(leases.loops());
        }
        if (has(Feature.INBOX)) {
            loops.add(inbox.renewing());
        }
        return loops;
    }

    /** Tells how much there is in each queue of the features that were asked for. */
    Measuring measuring() {
        return measuring;
    }

    MinuteByMinute minutes() {
        return minutes;
    }

    private Measuring measuring(WindlassBuilder builder) {
        String outboxTable = builder.outbox.tableName();
        List<Measuring.Measured> queues = new ArrayList<>();
        if (has(Feature.OUTBOX)) {
            queues.add(new Measuring.Measured(QueueKind.OUTBOX, outboxTable));
        }
        if (has(Feature.INBOX)) {
            queues.add(new Measuring.Measured(QueueKind.INBOX, builder.inbox.tableName()));
        }
        if (has(Feature.WORK)) {
            queues.add(new Measuring.Measured(QueueKind.WORK, builder.work.tableName()));
        }
        if (has(Feature.SCHEDULE)) {
            queues.add(new Measuring.Measured(QueueKind.TIMERS, outboxTable + "_timer"));
            queues.add(new Measuring.Measured(QueueKind.RUNS, outboxTable + "_job_run"));
        }
        return new Measuring(
                database.answeringWithin(builder.health.timeout()).givingUpLogins(Node.LONGEST_LOGIN), queues);
    }

    boolean has(Feature feature) {
        return features.contains(feature);
    }

    /** The part of a feature, for users, who must have asked for it. */
    <N> N its(Feature feature, N part) {
        if (!has(feature)) {
            throw new IllegalStateException("[" + database.name() + "] expected one of the features " + features
                    + ", got " + feature + "; add it to WindlassBuilder.only");
        }
        return part;
    }

    /** Those of the features that were asked for. */
    List<Dispatcher<?>> dispatchers() {
        return Stream.of(
                        dispatchers(Feature.OUTBOX, outbox.dispatcher()),
                        dispatchers(Feature.INBOX, inbox.dispatcher()),
                        dispatchers(Feature.WORK, work.dispatcher()))
                .flatMap(List::stream)
                .toList();
    }

    private List<Dispatcher<?>> dispatchers(Feature feature, Dispatcher<?> dispatcher) {
        return has(feature) ? List.of(dispatcher) : List.of();
    }

    void start() {
        start(Feature.OUTBOX, outbox::start);
        start(Feature.INBOX, inbox::start);
        start(Feature.WORK, work::start);
        start(Feature.SCHEDULE, schedule::start);
        node.lookout().start();
        minutes.start();
    }

    private void start(Feature feature, Runnable part) {
        if (has(feature)) {
            part.run();
        }
    }

    /** This process has committed something. */
    void committed() {
        outbox.committed();
        inbox.committed();
        work.committed();
        schedule.committed();
    }

    /** Takes nothing more. Waits for nothing. */
    void stopClaiming() {
        minutes.askToStop();
        node.lookout().askToStop();
        schedule.askToStop();
        dispatchers().forEach(Dispatcher::askToStop);
    }

    /** When everything else has ended. Threads and listeners that others use too are theirs. */
    void closeWorkers() {
        if (!sharesWorkers) {
            database.events().tell(new WindlassEvent.Stopped(database.store()));
        }
        listeners.close();
        if (!sharesWorkers) {
            node.workers().close();
        }
    }
}
