package dev.windlass;

import dev.windlass.base.AmbientTransactions;
import dev.windlass.base.Feature;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.MonotonicClock;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.event.WindlassListener;
import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthOptions;
import dev.windlass.inbox.InboxHandler;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.dispatch.Handlers;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.event.Listeners;
import dev.windlass.internal.inbox.InboxHandlers;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.schema.Component;
import dev.windlass.internal.schema.SchemaMigrator;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.work.WorkHandlers;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.OutboxHandler;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schema.Migrator;
import dev.windlass.trace.Tracing;
import dev.windlass.work.WorkHandler;
import dev.windlass.work.WorkOptions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Describes a Windlass: what is not said has a sensible default. */
public final class WindlassBuilder {
    final DataSource dataSource;
    final Handlers<OutboxHandler> outboxHandlers = new Handlers<>("handler");
    final InboxHandlers inboxHandlers = new InboxHandlers();
    final WorkHandlers workHandlers = new WorkHandlers();
    private final HandlerForms forms = new HandlerForms(() -> this.codec);
    Set<Feature> features = EnumSet.allOf(Feature.class);

    @Nullable
    DataSource background;

    @Nullable
    AmbientTransactions ambient;

    WindlassOptions options = WindlassOptions.defaults();
    OutboxOptions outbox = OutboxOptions.defaults();
    LeaseOptions leases = LeaseOptions.defaults();
    MonotonicClock clock = MonotonicClock.system();
    InboxOptions inbox = InboxOptions.defaults();
    WorkOptions work = WorkOptions.defaults();
    ScheduleOptions schedule = ScheduleOptions.defaults();
    final Map<String, JobSet> jobs = new LinkedHashMap<>();
    final Map<String, Job> ownJobs = new LinkedHashMap<>();
    PayloadCodec codec = PayloadCodec.standard();
    Tracing tracing = Tracing.NONE;
    final List<WindlassListener> listeners = new ArrayList<>();
    final Map<String, HealthCheck> healthChecks = new LinkedHashMap<>();
    HealthOptions health = HealthOptions.defaults();
    String name = "windlass";
    Node.@Nullable Shared shared;
    Listeners fleetListeners = Listeners.NONE;
    boolean ensureSchema;
    boolean closeOnShutdown;

    WindlassBuilder(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Uses these features alone: of others no tables are needed. Without this, all of them. */
    public WindlassBuilder only(Feature first, Feature... more) {
        features = EnumSet.of(first, more);
        if (features.contains(Feature.SCHEDULE) && !features.contains(Feature.OUTBOX)) {
            throw new IllegalArgumentException(
                    "expected the outbox with timers and jobs, which become messages of it, got " + features);
        }
        return this;
    }

    /** What identifies this store in logs and errors. */
    public WindlassBuilder name(String name) {
        this.name = Require.text("name", name, 100);
        return this;
    }

    public WindlassBuilder options(WindlassOptions options) {
        this.options = Require.present("set of options", options);
        return this;
    }

    /**
     * Changes some of the options, and leaves the others as they are: {@code options(its -> its.withWakeUp(false))}. For who goes on with a
     * builder that somebody else began. So do those of the same kind for the features.
     */
    public WindlassBuilder options(UnaryOperator<WindlassOptions> change) {
        return options(changed(options, change));
    }

    public WindlassBuilder outbox(OutboxOptions options) {
        this.outbox = Require.present("set of outbox options", options);
        return this;
    }

    public WindlassBuilder outbox(UnaryOperator<OutboxOptions> change) {
        return outbox(changed(outbox, change));
    }

    public WindlassBuilder leases(LeaseOptions options) {
        this.leases = Require.present("set of lease options", options);
        return this;
    }

    public WindlassBuilder leases(UnaryOperator<LeaseOptions> change) {
        return leases(changed(leases, change));
    }

    /** The clock that tells when a lease has to be renewed or is lost, for tests. */
    public WindlassBuilder clock(MonotonicClock clock) {
        this.clock = Require.present("clock", clock);
        return this;
    }

    public WindlassBuilder inbox(InboxOptions options) {
        this.inbox = Require.present("set of inbox options", options);
        return this;
    }

    public WindlassBuilder inbox(UnaryOperator<InboxOptions> change) {
        return inbox(changed(inbox, change));
    }

    public WindlassBuilder work(WorkOptions options) {
        this.work = Require.present("set of work options", options);
        return this;
    }

    public WindlassBuilder work(UnaryOperator<WorkOptions> change) {
        return work(changed(work, change));
    }

    public WindlassBuilder schedule(ScheduleOptions options) {
        this.schedule = Require.present("set of schedule options", options);
        return this;
    }

    public WindlassBuilder schedule(UnaryOperator<ScheduleOptions> change) {
        return schedule(changed(schedule, change));
    }

    /** Jobs that the program brings along when it starts. Several sets can be given, each once. */
    public WindlassBuilder jobs(JobSet set) {
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
    public WindlassBuilder job(Job job, OutboxHandler.Simple handler) {
        return outboxHandler(add(job), handler);
    }

    public WindlassBuilder job(Job job, HandlerOptions options, OutboxHandler.Simple handler) {
        return outboxHandler(add(job), options, handler);
    }

    /** The same with a payload that is encoded here, and decoded for the handler. */
    public <T> WindlassBuilder job(Job job, T payload, OutboxHandler.Typed<T> handler) {
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

    static <O> O changed(O options, UnaryOperator<O> change) {
        return Require.present("change", change).apply(options);
    }

    /** Creates or upgrades the schema at start, whatever {@link WindlassOptions#ensureSchema} says. */
    public WindlassBuilder ensureSchema() {
        ensureSchema = true;
        return this;
    }

    /**
     * Closes it when the process is told to end (SIGTERM, Ctrl-C, {@code System.exit}), for programs without a container that
     * does. The process ends when handlers have finished, or their grace period is over.
     */
    public WindlassBuilder closeOnShutdown() {
        closeOnShutdown = true;
        return this;
    }

    /**
     * Where the connection that is kept (for heartbeats and notifications) comes from, if not from the main data source: a direct
     * one beside a transaction-mode pooler, or one beside a small pool.
     */
    public WindlassBuilder backgroundDataSource(DataSource background) {
        this.background = Require.present("data source", background);
        return this;
    }

    /** How typed payloads are written and read; Jackson, when it is there, unless this is given. */
    public WindlassBuilder codec(PayloadCodec codec) {
        this.codec = Require.present("codec", codec);
        return this;
    }

    WindlassBuilder schema(String schema) {
        options = options.withSchemaName(schema);
        return this;
    }

    /** As one of several in this process. */
    WindlassBuilder sharing(Node.Shared shared) {
        this.shared = shared;
        return this;
    }

    /** Tells what happens; several can listen. In a fleet, {@link FleetBuilder#listener} hears all stores on one thread. */
    public WindlassBuilder listener(WindlassListener listener) {
        listeners.add(Require.present("listener", listener));
        return this;
    }

    /**
     * The transactions of the framework that the program lives in. What is written without naming a connection joins the one that the
     * caller is in, and {@link Windlass#inTransaction} and handlers in a transaction begin one of them.
     */
    public WindlassBuilder transactions(AmbientTransactions transactions) {
        this.ambient = Require.present("ambient transactions", transactions);
        return this;
    }

    /** Joins traces of what writes messages with those of what handles them. */
    public WindlassBuilder tracing(Tracing tracing) {
        this.tracing = Require.present("tracing", tracing);
        return this;
    }

    public WindlassBuilder health(HealthOptions options) {
        this.health = Require.present("set of health options", options);
        return this;
    }

    public WindlassBuilder health(UnaryOperator<HealthOptions> change) {
        return health(changed(health, change));
    }

    /** A check of the program's own, which {@link Windlass#health} does beside the others. */
    public WindlassBuilder healthCheck(String name, HealthCheck check) {
        Require.text("name of the check", name, 100);
        if (NodeHealth.NAMES.contains(name)
                || healthChecks.putIfAbsent(name, Require.present("check", check)) != null) {
            throw new IllegalArgumentException("expected checks with different names, got two with \"" + name + "\"");
        }
        return this;
    }

    /** Those of the fleet hear it, too. */
    WindlassBuilder telling(Listeners listeners) {
        this.fleetListeners = listeners;
        return this;
    }

    /** Handles the messages of a topic. One handler for each topic. */
    public WindlassBuilder outboxHandler(String topic, OutboxHandler.Simple handler) {
        return outboxHandler(topic, HandlerForms.outbox(handler));
    }

    public WindlassBuilder outboxHandler(String topic, OutboxHandler handler) {
        outboxHandlers.add(topic, handler, null);
        return this;
    }

    public WindlassBuilder outboxHandler(String topic, HandlerOptions options, OutboxHandler.Simple handler) {
        return outboxHandler(topic, options, HandlerForms.outbox(handler));
    }

    public WindlassBuilder outboxHandler(String topic, HandlerOptions options, OutboxHandler handler) {
        outboxHandlers.add(topic, handler, given(options));
        return this;
    }

    /** Handles the messages of a topic with their payloads decoded. */
    public <T> WindlassBuilder outboxHandler(String topic, Class<T> type, OutboxHandler.Typed<T> handler) {
        return outboxHandler(topic, forms.outbox(type, handler));
    }

    public <T> WindlassBuilder outboxHandler(
            String topic, HandlerOptions options, Class<T> type, OutboxHandler.Typed<T> handler) {
        return outboxHandler(topic, options, forms.outbox(type, handler));
    }

    /** Handles the messages of a typed topic. */
    public <T> WindlassBuilder outboxHandler(Topic<T> topic, OutboxHandler.Typed<T> handler) {
        return outboxHandler(given(topic).name(), topic.type(), handler);
    }

    public <T> WindlassBuilder outboxHandler(Topic<T> topic, HandlerOptions options, OutboxHandler.Typed<T> handler) {
        return outboxHandler(given(topic).name(), options, topic.type(), handler);
    }

    /** Handles the queued messages of a topic of the inbox. One handler for each topic. */
    public WindlassBuilder inboxHandler(String topic, InboxHandler.Simple handler) {
        return inboxHandler(topic, HandlerForms.inbox(handler));
    }

    public WindlassBuilder inboxHandler(String topic, InboxHandler handler) {
        inboxHandlers.add(topic, handler, null);
        return this;
    }

    public WindlassBuilder inboxHandler(String topic, HandlerOptions options, InboxHandler.Simple handler) {
        return inboxHandler(topic, options, HandlerForms.inbox(handler));
    }

    public WindlassBuilder inboxHandler(String topic, HandlerOptions options, InboxHandler handler) {
        inboxHandlers.add(topic, handler, given(options));
        return this;
    }

    /** Handles the queued messages of a typed topic. */
    public <T> WindlassBuilder inboxHandler(Topic<T> topic, InboxHandler.Typed<T> handler) {
        return inboxHandler(given(topic).name(), topic.type(), handler);
    }

    /** Handles the queued messages of a topic with their payloads decoded. */
    public <T> WindlassBuilder inboxHandler(String topic, Class<T> type, InboxHandler.Typed<T> handler) {
        return inboxHandler(topic, forms.inbox(type, handler));
    }

    public <T> WindlassBuilder inboxHandler(
            String topic, HandlerOptions options, Class<T> type, InboxHandler.Typed<T> handler) {
        return inboxHandler(topic, options, forms.inbox(type, handler));
    }

    /** Handles the queued messages of a topic in a transaction that also ends them: what it writes is written once. */
    public WindlassBuilder inboxHandlerInTransaction(String topic, InboxHandler.InTransaction handler) {
        inboxHandlers.addInTransaction(topic, handler, null);
        return this;
    }

    public WindlassBuilder inboxHandlerInTransaction(
            String topic, HandlerOptions options, InboxHandler.InTransaction handler) {
        inboxHandlers.addInTransaction(topic, handler, given(options));
        return this;
    }

    /** The same with their payloads decoded. */
    public <T> WindlassBuilder inboxHandlerInTransaction(Topic<T> topic, InboxHandler.TypedInTransaction<T> handler) {
        return inboxHandlerInTransaction(given(topic).name(), forms.inTransaction(topic.type(), handler));
    }

    public <T> WindlassBuilder inboxHandlerInTransaction(
            Topic<T> topic, HandlerOptions options, InboxHandler.TypedInTransaction<T> handler) {
        return inboxHandlerInTransaction(given(topic).name(), options, forms.inTransaction(topic.type(), handler));
    }

    /**
     * Handles the queued messages of a topic many at a time, in a transaction that also ends them: one commit instead of one for each.
     *
     * @param most how many messages a transaction has, at most
     */
    public WindlassBuilder inboxHandlerInTransaction(
            String topic, int most, InboxHandler.TogetherInTransaction handler) {
        inboxHandlers.addTogether(topic, most, handler, null);
        return this;
    }

    public WindlassBuilder inboxHandlerInTransaction(
            String topic, int most, HandlerOptions options, InboxHandler.TogetherInTransaction handler) {
        inboxHandlers.addTogether(topic, most, handler, given(options));
        return this;
    }

    /** Handles the items of one type in a queue. One handler for each type. */
    public WindlassBuilder workHandler(String queue, String type, WorkHandler.Simple handler) {
        return workHandler(queue, type, HandlerForms.work(handler));
    }

    public WindlassBuilder workHandler(String queue, String type, WorkHandler handler) {
        workHandlers.add(queue, type, handler, null);
        return this;
    }

    public WindlassBuilder workHandler(String queue, String type, HandlerOptions options, WorkHandler handler) {
        workHandlers.add(queue, type, handler, given(options));
        return this;
    }

    /** Handles the items of a typed topic, whose name is the type, with their payloads decoded. */
    public <T> WindlassBuilder workHandler(String queue, Topic<T> type, WorkHandler.Typed<T> handler) {
        return workHandler(queue, given(type).name(), forms.work(type.type(), handler));
    }

    public <T> WindlassBuilder workHandler(
            String queue, Topic<T> type, HandlerOptions options, WorkHandler.Typed<T> handler) {
        return workHandler(queue, given(type).name(), options, forms.work(type.type(), handler));
    }

    private static HandlerOptions given(HandlerOptions options) {
        return Require.present("set of handler options", options);
    }

    private static <T> Topic<T> given(Topic<T> topic) {
        return Require.present("topic", topic);
    }

    Database database(DataSource source) {
        return database(source, Events.NONE);
    }

    Database database(DataSource source, Events told) {
        return new Database(source, new PostgresDialect(), options.schemaName(), name, told, tracing, ambient)
                .allowingAutoCommit(options.autoCommitAllowed())
                .requiringTransactions(options.transactionRequired())
                .retryingBy(options.callRetries());
    }

    /** Creates, upgrades or checks the schema this describes, without starting anything. */
    public Migrator migrator() {
        return migrator(database(dataSource));
    }

    Migrator migrator(Database database) {
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
        return build().start();
    }

    /**
     * The same without beginning: messages can be written, and nothing is handled until it is {@linkplain Windlass#start started}. For
     * containers, which give it to others before all is ready. It has to be closed, too.
     *
     * @throws WindlassException if typed handlers have no codec
     */
    public Windlass build() {
        forms.check();
        need(Feature.OUTBOX, outboxHandlers.isEmpty());
        need(Feature.INBOX, inboxHandlers.isEmpty());
        need(Feature.WORK, workHandlers.isEmpty());
        need(Feature.SCHEDULE, jobs.isEmpty() && ownJobs.isEmpty());
        return new Windlass(this);
    }

    private void need(Feature feature, boolean unused) {
        if (!unused && !features.contains(feature)) {
            throw new IllegalStateException("expected no handlers or jobs of a feature that is left out, got some of "
                    + feature + "; add it to only(" + features + ")");
        }
    }
}
