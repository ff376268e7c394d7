package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.base.TransactionalWork;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolSize;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.database.Transactions;
import dev.windlass.internal.dispatch.Dispatcher;
import dev.windlass.internal.dispatch.Handlers;
import dev.windlass.internal.dispatch.Telemetry;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.inbox.InboxHandlers;
import dev.windlass.internal.inbox.InboxNode;
import dev.windlass.internal.lease.LeaseNode;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.outbox.OutboxNode;
import dev.windlass.internal.schedule.ScheduleNode;
import dev.windlass.internal.schema.Component;
import dev.windlass.internal.schema.SchemaMigrator;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.work.WorkHandlers;
import dev.windlass.internal.work.WorkNode;
import dev.windlass.join.Joins;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.Timers;
import dev.windlass.schema.Migrator;
import dev.windlass.work.WorkHandler;
import dev.windlass.work.WorkOptions;
import dev.windlass.work.WorkQueue;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reliable background work on the database behind a {@link DataSource}.
 *
 * <pre>{@code
 * var windlass = Windlass.on(dataSource)
 *         .outboxHandler("order.created", message -> mailer.send(message.payload()))
 *         .start();
 * windlass.outbox().enqueue(connection, OutboxEntry.of("order.created", json));   // the caller commits
 * }</pre>
 *
 * <p>Thread-safe. Close it when the program ends: handlers get time to finish, and what they cannot finish is returned for
 * others. A database that is away when it starts, or goes away later, is waited for.
 */
public final class Windlass implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Windlass.class);
    private static final Duration JOBS_AGAIN = Duration.ofSeconds(1);
    private static final int MOST_NAMED = 20;

    /** To claim, and to write outcomes. */
    private static final int FOR_MOMENTS = 2;

    private final Workers workers;
    private final boolean sharesWorkers;
    private final Node node;
    private final Migrator migrator;
    private final boolean ensureSchema;
    private final Database database;
    private final Transactions transactions;
    private final OutboxNode outbox;
    private final LeaseNode leases;
    private final InboxNode inbox;
    private final WorkNode work;
    private final ScheduleNode schedule;
    private final Set<Feature> features;
    private final boolean backgroundWorkers;
    private final String nodeName;
    private final boolean closeOnShutdown;
    private final Thread hook = new Thread(this::close, "windlass-shutdown");
    private final Duration shutdownGrace;
    private final Loop starter;
    private volatile boolean jobsLate;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean running;

    private Windlass(Builder builder) {
        WindlassOptions options = builder.options;
        database = builder.database(builder.dataSource);
        migrator = builder.migrator(database);
        ensureSchema = builder.ensureSchema || options.ensureSchema();
        features = Set.copyOf(builder.features);
        backgroundWorkers = options.backgroundWorkers();
        nodeName = options.nodeName();
        closeOnShutdown = builder.closeOnShutdown;
        shutdownGrace = options.shutdownGrace();
        transactions = new Transactions(database, this::wakeUp);
        Database background = builder.background == null ? database : builder.database(builder.background);
        sharesWorkers = builder.shared != null;
        Node.Shared shared = builder.shared == null ? Node.Shared.none(new Workers()) : builder.shared;
        workers = shared.workers();
        node = new Node(database, background, shared, options.wakeUp(), options.maxPollingInterval());
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
        starter = new Loop("[" + database.name() + "] starting", workers, this::startFeatures);
        checkPools(builder);
    }

    /** A pool that is too small is a node that waits for itself; better to say so now. */
    private void checkPools(Builder builder) {
        int kept = keepsConnection(builder.options) ? 1 : 0;
        boolean shared = builder.background == null;
        if (backgroundWorkers) {
            checkPool(builder.dataSource, shared ? kept : 0, FOR_MOMENTS);
        }
        if (builder.background != null) {
            checkPool(builder.background, kept, 0);
        }
    }

    /** For heartbeats where there are handlers, and for notifications where anybody heeds them. */
    private boolean keepsConnection(WindlassOptions options) {
        boolean handles =
                dispatchers().anyMatch(dispatcher -> !dispatcher.topics().isEmpty());
        return handles || (options.wakeUp() && features.contains(Feature.SCHEDULE));
    }

    private void checkPool(DataSource pool, int kept, int forMoments) {
        PoolSize.of(pool).ifPresent(size -> {
            if (size < kept + forMoments) {
                log.warn(
                        "[{}] needs {} connections for itself ({} is kept, {} are used for moments); the pool has {}: make it larger by"
                                + " what handlers use",
                        database.name(),
                        kept + forMoments,
                        kept,
                        forMoments,
                        size);
            }
        });
    }

    /** Begins to describe a Windlass on this database. */
    public static Builder on(DataSource dataSource) {
        return new Builder(Require.present("data source", dataSource));
    }

    /** The features that were asked for; others are an {@link IllegalStateException}. */
    public Outbox outbox() {
        return its(Feature.OUTBOX, outbox).outbox();
    }

    /** What waits for several messages; a part of the outbox. */
    public Joins joins() {
        return its(Feature.OUTBOX, outbox).joins();
    }

    public Leases leases() {
        return its(Feature.LEASES, leases).leases();
    }

    public Inbox inbox() {
        return its(Feature.INBOX, inbox).inbox();
    }

    public WorkQueue workQueue() {
        return its(Feature.WORK, work).queue();
    }

    public Timers timers() {
        return its(Feature.SCHEDULE, schedule).timers();
    }

    public Jobs jobs() {
        return its(Feature.SCHEDULE, schedule).jobs();
    }

    private <N> N its(Feature feature, N node) {
        if (!features.contains(feature)) {
            throw new IllegalStateException("[" + database.name() + "] expected one of the features " + features
                    + ", got " + feature + "; add it to Builder.only");
        }
        return node;
    }

    private Stream<Dispatcher<?>> dispatchers() {
        Stream<Dispatcher<?>> outboxes =
                features.contains(Feature.OUTBOX) ? Stream.of(outbox.dispatcher()) : Stream.empty();
        Stream<Dispatcher<?>> inboxes =
                features.contains(Feature.INBOX) ? Stream.of(inbox.dispatcher()) : Stream.empty();
        Stream<Dispatcher<?>> works = features.contains(Feature.WORK) ? Stream.of(work.dispatcher()) : Stream.empty();
        return Stream.concat(Stream.concat(outboxes, inboxes), works);
    }

    /**
     * Runs work in a transaction, commits it, and looks at once for what it enqueued. If it throws, everything is rolled back.
     *
     * <p>What this thread writes through this Windlass meanwhile is a part of the transaction, with or without naming the
     * connection. So is another call of this method inside of the work: it is committed with the one around it, and rolled
     * back alone if it throws. A data source that follows a transaction manager gives the connection of the transaction that
     * is open; then this is a part of that one, and its manager commits it.
     *
     * @throws X what the work throws, and nothing else that is checked
     * @throws WindlassException if the transaction cannot be begun or committed
     */
    public <T extends @Nullable Object, X extends Exception> T inTransaction(TransactionalWork<T, X> work) throws X {
        return transactions.run(work);
    }

    /**
     * Tells this node that work has been committed. Nobody has to call it: a commit of the caller's own is announced through the
     * database, which takes about a millisecond longer. For transaction managers that can run something after a commit.
     */
    public void wakeUp() {
        outbox.committed();
        inbox.committed();
        work.committed();
        schedule.committed();
    }

    /** A schema that is missing or does not fit is an error now; a database that is away is not. */
    private Windlass start() {
        try {
            if (!startFeatures().equals(Loop.PARKED)) {
                starter.start();
            }
        } catch (SQLException | WindlassException e) {
            startLater(e);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
        if (closeOnShutdown) {
            Runtime.getRuntime().addShutdownHook(hook);
        }
        return this;
    }

    /** Nothing refers to a node that has been closed. */
    private void removeHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            log.debug("[{}] the process is ending", database.name());
        }
    }

    private void startLater(Exception e) {
        Throwable error = e instanceof SQLException ? e : e.getCause();
        if (!(error instanceof SQLException sql) || !database.dialect().isTransient(sql)) {
            close();
            throw e instanceof WindlassException known ? known : database.failure("start", (SQLException) e);
        }
        if (PoolTimeout.is(sql)) {
            log.warn("[{}] starting later: {}", database.name(), database.describe(sql));
        } else {
            log.warn("[{}] starting when the database is back", database.name());
        }
        starter.start();
    }

    /** Nothing of a node that has begun waits for its jobs, which somebody may have locked. Returns when to go on. */
    private Duration startFeatures() throws SQLException {
        if (!hasBegun()) {
            beginNode();
        }
        return closed.get() || !features.contains(Feature.SCHEDULE) ? Loop.PARKED : bringJobs();
    }

    private Duration bringJobs() throws SQLException {
        try {
            schedule.bringJobs();
            if (jobsLate) {
                log.info("[{}] the jobs of this program have been saved", database.name());
            }
            return Loop.PARKED;
        } catch (SQLException e) {
            if (!database.dialect().isTransient(e)) {
                throw e;
            }
            if (!jobsLate) {
                log.warn(
                        "[{}] the jobs of this program could not be saved yet, trying again: {}",
                        database.name(),
                        database.describe(e));
            }
            jobsLate = true;
            return JOBS_AGAIN;
        }
    }

    private void beginNode() throws SQLException {
        if (ensureSchema) {
            migrator.migrate();
        }
        migrator.check();
        if (begin()) {
            log.info(
                    "[{}] Windlass {} started as node {} on schema {}; {}",
                    database.name(),
                    version(),
                    nodeName,
                    database.schema(),
                    topics());
        }
    }

    private static String version() {
        String version = Windlass.class.getPackage().getImplementationVersion();
        return version == null ? "(not from a jar)" : version;
    }

    private String topics() {
        if (!backgroundWorkers) {
            return "it only writes";
        }
        List<String> topics = dispatchers()
                .flatMap(dispatcher -> dispatcher.topics().stream())
                .distinct()
                .sorted()
                .toList();
        String named = topics.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
        int others = topics.size() - MOST_NAMED;
        return topics.isEmpty()
                ? "it handles no topic"
                : "it handles " + named + (others > 0 ? " and " + others + " more topics" : "");
    }

    /** Exclusive with {@link #hasBegun}: a start that took longer than the patience of close must not begin after it. */
    private synchronized boolean begin() {
        if (closed.get()) {
            return false;
        }
        if (backgroundWorkers) {
            if (features.contains(Feature.OUTBOX)) {
                outbox.start();
            }
            if (features.contains(Feature.INBOX)) {
                inbox.start();
            }
            if (features.contains(Feature.WORK)) {
                work.start();
            }
            if (features.contains(Feature.SCHEDULE)) {
                schedule.start();
            }
            node.lookout().start();
        }
        running = true;
        return true;
    }

    private synchronized boolean hasBegun() {
        return running;
    }

    /** Whether the schema has been found and background work, if there is any, has begun. */
    public boolean isRunning() {
        return running && !closed.get();
    }

    /**
     * Stops claiming, lets handlers and leaders finish within the grace period, writes outcomes, returns the rest to ready, and
     * releases leases. It takes no more than about two seconds longer than the grace period, also when the database does not
     * answer; what could not be written is logged. Closing twice does nothing. An interrupt that arrives meanwhile ends the grace
     * period.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            boolean interrupted = Thread.interrupted();
            try {
                interrupted |= stop();
            } finally {
                if (!sharesWorkers) {
                    workers.close();
                }
                removeHook();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** Takes nothing more. Waits for nothing; {@link #close} does. */
    void stopClaiming() {
        node.lookout().askToStop();
        schedule.askToStop();
        dispatchers().forEach(Dispatcher::askToStop);
    }

    private boolean stop() {
        boolean begun = hasBegun();
        Closing closing = new Closing(database.name(), node, starter, outbox, inbox, work, schedule, leases);
        boolean interrupted = closing.run(shutdownGrace);
        if (begun) {
            log.info("[{}] stopped{}", database.name(), closing.told());
        }
        return interrupted;
    }

    /** Describes a Windlass: what is not said has a sensible default. */
    public static final class Builder {
        private final DataSource dataSource;
        private final Handlers<OutboxHandler> outboxHandlers = new Handlers<>("handler");
        private final InboxHandlers inboxHandlers = new InboxHandlers();
        private final WorkHandlers workHandlers = new WorkHandlers();
        private Set<Feature> features = EnumSet.allOf(Feature.class);
        private @Nullable DataSource background;
        private WindlassOptions options = WindlassOptions.defaults();
        private OutboxOptions outbox = OutboxOptions.defaults();
        private LeaseOptions leases = LeaseOptions.defaults();
        private MonotonicClock clock = MonotonicClock.system();
        private InboxOptions inbox = InboxOptions.defaults();
        private WorkOptions work = WorkOptions.defaults();
        private ScheduleOptions schedule = ScheduleOptions.defaults();
        private final Map<String, JobSet> jobs = new LinkedHashMap<>();
        private final Map<String, Job> ownJobs = new LinkedHashMap<>();
        private PayloadCodec codec = PayloadCodec.standard();
        private Telemetry telemetry = Telemetry.NONE;
        private String name = "windlass";
        private Node.@Nullable Shared shared;
        private boolean ensureSchema;
        private boolean closeOnShutdown;
        private boolean decodes;

        private Builder(DataSource dataSource) {
            this.dataSource = dataSource;
        }

        /** Uses these features alone: of others no tables are needed. Without this, all of them. */
        public Builder only(Feature first, Feature... more) {
            features = EnumSet.of(first, more);
            if (features.contains(Feature.SCHEDULE) && !features.contains(Feature.OUTBOX)) {
                throw new IllegalArgumentException(
                        "expected the outbox with timers and jobs, which become messages of it, got " + features);
            }
            return this;
        }

        /** What identifies this store in logs and errors. */
        public Builder name(String name) {
            this.name = Require.text("name", name, 100);
            return this;
        }

        public Builder options(WindlassOptions options) {
            this.options = Require.present("set of options", options);
            return this;
        }

        public Builder outbox(OutboxOptions options) {
            this.outbox = Require.present("set of outbox options", options);
            return this;
        }

        public Builder leases(LeaseOptions options) {
            this.leases = Require.present("set of lease options", options);
            return this;
        }

        /** The clock that tells when a lease has to be renewed or is lost, for tests. */
        public Builder clock(MonotonicClock clock) {
            this.clock = Require.present("clock", clock);
            return this;
        }

        public Builder inbox(InboxOptions options) {
            this.inbox = Require.present("set of inbox options", options);
            return this;
        }

        public Builder work(WorkOptions options) {
            this.work = Require.present("set of work options", options);
            return this;
        }

        public Builder schedule(ScheduleOptions options) {
            this.schedule = Require.present("set of schedule options", options);
            return this;
        }

        /** Jobs that the program brings along when it starts. Several sets can be given, each once. */
        public Builder jobs(JobSet set) {
            Require.present("set of jobs", set);
            if (jobs.putIfAbsent(set.name(), set) != null) {
                throw new IllegalArgumentException(
                        "expected sets of jobs with different names, got two with \"" + set.name() + "\"");
            }
            return this;
        }

        /**
         * A job and the code of its runs. The job is saved at the start; its topic is its name, unless it has another.
         *
         * <p>Whoever starts last decides what the job is. Where old and new nodes are started side by side, bring jobs along as a
         * {@link JobSet} instead, whose revision decides. A job that is not given any more stays until it is deleted.
         */
        public Builder job(Job job, OutboxHandler.Simple handler) {
            return outboxHandler(add(job), handler);
        }

        public Builder job(Job job, HandlerOptions options, OutboxHandler.Simple handler) {
            return outboxHandler(add(job), options, handler);
        }

        /** The same with a payload that is encoded here, and decoded for the handler. */
        public <T> Builder job(Job job, T payload, OutboxHandler.Typed<T> handler) {
            Require.present("job", job);
            @SuppressWarnings("unchecked") // what it is an instance of
            Class<T> type = (Class<T>) Require.present("payload", payload).getClass();
            return outboxHandler(add(job.withPayload(codec.encode(payload))), type, handler);
        }

        /** Returns the topic of its runs. */
        private String add(Job job) {
            Require.present("job", job);
            Job complete = job.topic() == null ? job.withTopic(job.name()) : job;
            if (ownJobs.putIfAbsent(complete.name(), complete) != null) {
                throw new IllegalArgumentException(
                        "expected jobs with different names, got two with \"" + complete.name() + "\"");
            }
            return Objects.requireNonNull(complete.topic());
        }

        /** Creates or upgrades the schema at start, whatever {@link WindlassOptions#ensureSchema} says. */
        public Builder ensureSchema() {
            ensureSchema = true;
            return this;
        }

        /**
         * Closes it when the process is told to end (SIGTERM, Ctrl-C, {@code System.exit}), for programs without a container that
         * does. The process ends when handlers have finished, or their grace period is over.
         */
        public Builder closeOnShutdown() {
            closeOnShutdown = true;
            return this;
        }

        /**
         * Where the connection that is kept (for heartbeats and notifications) comes from, if not from the main data source: a direct
         * one beside a transaction-mode pooler, or one beside a small pool.
         */
        public Builder backgroundDataSource(DataSource background) {
            this.background = Require.present("data source", background);
            return this;
        }

        /** How typed payloads are written and read; Jackson, when it is there, unless this is given. */
        public Builder codec(PayloadCodec codec) {
            this.codec = Require.present("codec", codec);
            return this;
        }

        Builder schema(String schema) {
            options = options.withSchemaName(schema);
            return this;
        }

        /** As one of several in this process. */
        Builder sharing(Node.Shared shared) {
            this.shared = shared;
            return this;
        }

        /** Internal until metrics are part of the API. */
        @SuppressWarnings("exports")
        public Builder telemetry(Telemetry telemetry) {
            this.telemetry = Require.present("telemetry", telemetry);
            return this;
        }

        /** Handles the messages of a topic. One handler for each topic. */
        public Builder outboxHandler(String topic, OutboxHandler.Simple handler) {
            Require.present("handler", handler);
            return outboxHandler(topic, (message, cancellation) -> handler.handle(message));
        }

        public Builder outboxHandler(String topic, OutboxHandler handler) {
            return register(topic, handler, null);
        }

        public Builder outboxHandler(String topic, HandlerOptions options, OutboxHandler.Simple handler) {
            Require.present("handler", handler);
            return outboxHandler(topic, options, (message, cancellation) -> handler.handle(message));
        }

        public Builder outboxHandler(String topic, HandlerOptions options, OutboxHandler handler) {
            return register(topic, handler, Require.present("set of handler options", options));
        }

        /** Handles the messages of a topic with their payloads decoded. */
        public <T> Builder outboxHandler(String topic, Class<T> type, OutboxHandler.Typed<T> handler) {
            return outboxHandler(topic, decoding(type, handler));
        }

        public <T> Builder outboxHandler(
                String topic, HandlerOptions options, Class<T> type, OutboxHandler.Typed<T> handler) {
            return outboxHandler(topic, options, decoding(type, handler));
        }

        /** Handles the messages of a typed topic. */
        public <T> Builder outboxHandler(Topic<T> topic, OutboxHandler.Typed<T> handler) {
            Require.present("topic", topic);
            return outboxHandler(topic.name(), topic.type(), handler);
        }

        public <T> Builder outboxHandler(Topic<T> topic, HandlerOptions options, OutboxHandler.Typed<T> handler) {
            Require.present("topic", topic);
            return outboxHandler(topic.name(), options, topic.type(), handler);
        }

        private <T> OutboxHandler.Simple decoding(Class<T> type, OutboxHandler.Typed<T> handler) {
            Require.present("payload type", type);
            Require.present("handler", handler);
            decodes = true;
            return message -> handler.handle(codec.decode(message.payload(), type), message);
        }

        private Builder register(String topic, OutboxHandler handler, @Nullable HandlerOptions options) {
            outboxHandlers.add(topic, handler, options);
            return this;
        }

        /** Handles the queued messages of a topic of the inbox. One handler for each topic. */
        public Builder inboxHandler(String topic, InboxHandler.Simple handler) {
            Require.present("handler", handler);
            return inboxHandler(topic, (message, cancellation) -> handler.handle(message));
        }

        public Builder inboxHandler(String topic, InboxHandler handler) {
            inboxHandlers.add(topic, handler, null);
            return this;
        }

        public Builder inboxHandler(String topic, HandlerOptions options, InboxHandler.Simple handler) {
            Require.present("handler", handler);
            return inboxHandler(topic, options, (message, cancellation) -> handler.handle(message));
        }

        public Builder inboxHandler(String topic, HandlerOptions options, InboxHandler handler) {
            inboxHandlers.add(topic, handler, Require.present("set of handler options", options));
            return this;
        }

        /** Handles the queued messages of a typed topic. */
        public <T> Builder inboxHandler(Topic<T> topic, InboxHandler.Typed<T> handler) {
            Require.present("topic", topic);
            return inboxHandler(topic.name(), topic.type(), handler);
        }

        /** Handles the queued messages of a topic with their payloads decoded. */
        public <T> Builder inboxHandler(String topic, Class<T> type, InboxHandler.Typed<T> handler) {
            return inboxHandler(topic, decodingQueued(type, handler));
        }

        public <T> Builder inboxHandler(
                String topic, HandlerOptions options, Class<T> type, InboxHandler.Typed<T> handler) {
            return inboxHandler(topic, options, decodingQueued(type, handler));
        }

        private <T> InboxHandler.Simple decodingQueued(Class<T> type, InboxHandler.Typed<T> handler) {
            Require.present("payload type", type);
            Require.present("handler", handler);
            decodes = true;
            return message -> handler.handle(codec.decode(message.payload(), type), message);
        }

        /** Handles the queued messages of a topic in a transaction that also ends them: what it writes is written once. */
        public Builder inboxHandlerInTransaction(String topic, InboxHandler.InTransaction handler) {
            inboxHandlers.addInTransaction(topic, handler, null);
            return this;
        }

        public Builder inboxHandlerInTransaction(
                String topic, HandlerOptions options, InboxHandler.InTransaction handler) {
            inboxHandlers.addInTransaction(topic, handler, Require.present("set of handler options", options));
            return this;
        }

        /** The same with their payloads decoded. */
        public <T> Builder inboxHandlerInTransaction(Topic<T> topic, InboxHandler.TypedInTransaction<T> handler) {
            return inboxHandlerInTransaction(
                    Require.present("topic", topic).name(), decodingInTransaction(topic, handler));
        }

        public <T> Builder inboxHandlerInTransaction(
                Topic<T> topic, HandlerOptions options, InboxHandler.TypedInTransaction<T> handler) {
            return inboxHandlerInTransaction(
                    Require.present("topic", topic).name(), options, decodingInTransaction(topic, handler));
        }

        private <T> InboxHandler.InTransaction decodingInTransaction(
                Topic<T> topic, InboxHandler.TypedInTransaction<T> handler) {
            Require.present("handler", handler);
            decodes = true;
            return (connection, message) ->
                    handler.handle(connection, codec.decode(message.payload(), topic.type()), message);
        }

        /** Handles the items of one type in a queue. One handler for each type. */
        public Builder workHandler(String queue, String type, WorkHandler.Simple handler) {
            Require.present("handler", handler);
            return workHandler(queue, type, (item, context) -> handler.handle(item));
        }

        public Builder workHandler(String queue, String type, WorkHandler handler) {
            workHandlers.add(queue, type, handler, null);
            return this;
        }

        public Builder workHandler(String queue, String type, HandlerOptions options, WorkHandler handler) {
            workHandlers.add(queue, type, handler, Require.present("set of handler options", options));
            return this;
        }

        /** Handles the items of a typed topic, whose name is the type, with their payloads decoded. */
        public <T> Builder workHandler(String queue, Topic<T> type, WorkHandler.Typed<T> handler) {
            return workHandler(queue, Require.present("topic", type).name(), decodingWork(type, handler));
        }

        public <T> Builder workHandler(
                String queue, Topic<T> type, HandlerOptions options, WorkHandler.Typed<T> handler) {
            return workHandler(queue, Require.present("topic", type).name(), options, decodingWork(type, handler));
        }

        private <T> WorkHandler decodingWork(Topic<T> type, WorkHandler.Typed<T> handler) {
            Require.present("handler", handler);
            decodes = true;
            return (item, context) -> handler.handle(codec.decode(item.payload(), type.type()), item, context);
        }

        private Database database(DataSource source) {
            return new Database(source, new PostgresDialect(), options.schemaName(), name)
                    .allowingAutoCommit(options.autoCommitAllowed())
                    .retryingBy(options.callRetries());
        }

        /** Creates, upgrades or checks the schema this describes, without starting anything. */
        public Migrator migrator() {
            return migrator(database(dataSource));
        }

        private Migrator migrator(Database database) {
            return new SchemaMigrator(
                    database, features.stream().map(this::component).toList());
        }

        private Component component(Feature feature) {
            return switch (feature) {
                case OUTBOX -> Component.outbox(outbox.tableName());
                case SCHEDULE -> Component.schedule(outbox.tableName());
                case INBOX -> Component.inbox(inbox.tableName());
                case WORK -> Component.work(work.tableName());
                case LEASES -> Component.lease(leases.tableName());
            };
        }

        /**
         * Checks the schema, and begins to work.
         *
         * @throws WindlassException if the schema is missing or does not fit, or typed handlers have no codec
         */
        public Windlass start() {
            if (decodes) {
                codec.check();
            }
            need(Feature.OUTBOX, outboxHandlers.isEmpty());
            need(Feature.INBOX, inboxHandlers.isEmpty());
            need(Feature.WORK, workHandlers.isEmpty());
            need(Feature.SCHEDULE, jobs.isEmpty() && ownJobs.isEmpty());
            return new Windlass(this).start();
        }

        private void need(Feature feature, boolean unused) {
            if (!unused && !features.contains(feature)) {
                throw new IllegalStateException(
                        "expected no handlers or jobs of a feature that is left out, got some of " + feature
                                + "; add it to only(" + features + ")");
            }
        }
    }
}
