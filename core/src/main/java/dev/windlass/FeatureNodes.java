package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.WindlassOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.inbox.InboxNode;
import dev.windlass.internal.lease.LeaseNode;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.outbox.OutboxNode;
import dev.windlass.internal.schedule.ScheduleNode;
import dev.windlass.internal.work.WorkNode;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What a Windlass consists of: a part for each feature, on one node and one database. Those that were not asked for lie idle. */
final class FeatureNodes {
    final Database database;
    final Node node;
    final Transactions transactions;
    final OutboxNode outbox;
    final LeaseNode leases;
    final InboxNode inbox;
    final WorkNode work;
    final ScheduleNode schedule;
    private final Set<Feature> features;
    private final boolean sharesWorkers;

    FeatureNodes(WindlassBuilder builder) {
        WindlassOptions options = builder.options;
        features = Set.copyOf(builder.features);
        sharesWorkers = builder.shared != null;
        Node.Shared shared = builder.shared == null ? Node.Shared.none(new Workers()) : builder.shared;
        Workers workers = shared.workers();
        database = builder.database(builder.dataSource).cancelling(workers::later);
        transactions = new Transactions(database, this::committed);
        Database background = builder.background == null
                ? database
                : builder.database(builder.background).cancelling(workers::later);
        node = new Node(database, background, shared, options.wakeUp(), options.maxPollingInterval());
        node.onCommit(this::committed);
        outbox = new OutboxNode(
                database,
                node,
                options,
                builder.outbox,
                builder.outboxHandlers.handlings(builder.outbox.queue().handlers(), handler -> handler::handle),
                builder.codec,
                builder.telemetry);
        leases = new LeaseNode(database, node, options, builder.leases, builder.clock);
        inbox = new InboxNode(
                database.named(database.name() + " inbox"),
                node,
                options,
                builder.inbox,
                builder.inboxHandlers,
                transactions,
                builder.codec,
                builder.telemetry);
        work = new WorkNode(
                database.named(database.name() + " work"),
                node,
                options,
                builder.work,
                builder.workHandlers,
                transactions,
                builder.codec,
                builder.telemetry);
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
        node.lookout().askToStop();
        schedule.askToStop();
        dispatchers().forEach(Dispatcher::askToStop);
    }

    /** When everything else has ended. Threads that others use too are theirs. */
    void closeWorkers() {
        if (!sharesWorkers) {
            node.workers().close();
        }
    }
}
