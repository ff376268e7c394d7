package dev.windlass.benchmarks.system;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Quartz with its JDBC store: one durable job, a trigger for each message. */
final class QuartzSystem implements SystemUnderTest {
    private static final int THREADS = 32;
    private static final String MARK = "0 payload-to-replace";
    private static final String COPY_TRIGGERS = """
            insert into qrtz_triggers
            select (jsonb_populate_record(t, jsonb_build_object(
                       'trigger_name', n::text,
                       'job_data', convert_to(
                            replace(convert_from(t.job_data, 'UTF8'), '%s', rpad(n || ' ', %d, 'x')), 'UTF8')::text))).*
              from qrtz_triggers t, generate_series(0, %d - 1) n;
            insert into qrtz_simple_triggers
            select (jsonb_populate_record(s, jsonb_build_object('trigger_name', n::text))).*
              from qrtz_simple_triggers s, generate_series(0, %3$d - 1) n;
            delete from qrtz_simple_triggers where trigger_name = 'template';
            delete from qrtz_triggers where trigger_name = 'template';
            """;
    private static final JobDetail JOB = JobBuilder.newJob(Runner.class)
            .withIdentity("messages")
            .storeDurably()
            .build();

    private final Tables tables;
    private final HikariDataSource pool;

    QuartzSystem(Server server) {
        tables = new Tables(server, "bench_quartz");
        pool = server.pool(tables.schema(), THREADS + 6);
    }

    /** Hands the trigger's message on. */
    public static final class Runner implements Job {
        private final Handling handling;

        Runner(Handling handling) {
            this.handling = handling;
        }

        @Override
        public void execute(JobExecutionContext context) throws JobExecutionException {
            try {
                handling.handle(
                        context.getMergedJobDataMap().getString("topic"),
                        context.getMergedJobDataMap().getString("payload"));
            } catch (Exception e) {
                throw new JobExecutionException(e);
            }
        }
    }

    private record Connections(HikariDataSource pool) implements ConnectionProvider {
        @Override
        public Connection getConnection() throws SQLException {
            return pool.getConnection();
        }

        @Override
        public void shutdown() {}

        @Override
        public void initialize() {}
    }

    @Override
    public String name() {
        return "quartz";
    }

    @Override
    public String version() {
        return "2.5.2";
    }

    @Override
    public String settings() {
        return "JobStoreTX, PostgreSQL delegate, clustered, " + THREADS + " threads, a pool of " + (THREADS + 6)
                + " connections, batchTriggerAcquisitionMaxCount " + THREADS
                + ", acquireTriggersWithinLock, idleWaitTime 1 s (the smallest it allows), one durable job with a trigger"
                + " for each message, useProperties; tried: 10, 25, 50 and 100 threads; 25 was best, 50 next, this is between them";
    }

    @Override
    public double share() {
        return 0.03;
    }

    @Override
    public Optional<String> cannot(Ability ability) {
        return switch (ability) {
            case TRANSACTION -> Optional.of("not atomic: JobStoreTX commits by itself, JobStoreCMT needs a container");
            case ORDERING -> Optional.of("no ordering");
            case TIMER -> Optional.empty();
        };
    }

    @Override
    public void install() throws Exception {
        tables.recreate();
        try (InputStream script =
                Scheduler.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_postgres.sql")) {
            tables.execute(new String(requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException("Quartz's tables could not be read", e);
        }
        Scheduler scheduler = scheduler();
        scheduler.addJob(JOB, true);
        scheduler.shutdown();
    }

    private Scheduler scheduler() throws SchedulerException {
        DBConnectionManager.getInstance().addConnectionProvider("bench", new Connections(pool));
        Properties settings = new Properties();
        settings.putAll(Map.ofEntries(
                Map.entry("org.quartz.scheduler.instanceName", "bench"),
                Map.entry("org.quartz.scheduler.instanceId", UUID.randomUUID().toString()),
                Map.entry("org.quartz.scheduler.idleWaitTime", "1000"),
                Map.entry("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", Integer.toString(THREADS)),
                Map.entry("org.quartz.threadPool.threadCount", Integer.toString(THREADS)),
                Map.entry("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool"),
                Map.entry("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX"),
                Map.entry("org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate"),
                Map.entry("org.quartz.jobStore.dataSource", "bench"),
                Map.entry("org.quartz.jobStore.isClustered", "true"),
                Map.entry("org.quartz.jobStore.useProperties", "true"),
                Map.entry("org.quartz.jobStore.acquireTriggersWithinLock", "true"),
                // What waits behind a backlog is late, but not to be treated as a misfire, which takes longer.
                Map.entry("org.quartz.jobStore.misfireThreshold", "3600000")));
        return new StdSchedulerFactory(settings).getScheduler();
    }

    @Override
    public void empty() throws Exception {
        tables.execute("truncate qrtz_triggers, qrtz_simple_triggers, qrtz_fired_triggers cascade");
    }

    @Override
    public void fill(String topic, int messages, int payloadBytes) throws Exception {
        empty();
        Scheduler scheduler = scheduler();
        scheduler.scheduleJob(trigger("template", topic, MARK, Instant.now()));
        scheduler.shutdown();
        tables.execute(COPY_TRIGGERS.formatted(MARK, payloadBytes, messages));
        tables.settle("qrtz_triggers", "qrtz_simple_triggers", "qrtz_fired_triggers");
    }

    private static Trigger trigger(String name, String topic, String payload, Instant at) {
        return TriggerBuilder.newTrigger()
                .withIdentity(name)
                .forJob(JOB)
                .usingJobData("topic", topic)
                .usingJobData("payload", payload)
                .startAt(Date.from(at))
                .build();
    }

    private static void end(Scheduler scheduler) {
        try {
            scheduler.shutdown(true);
        } catch (SchedulerException e) {
            throw new IllegalStateException("Quartz did not end", e);
        }
    }

    private record Node(Scheduler scheduler) implements Workers {
        @Override
        public void close() {
            end(scheduler);
        }
    }

    @Override
    public Workers start(Handling handling, List<String> topics) throws SchedulerException {
        Scheduler scheduler = scheduler();
        scheduler.setJobFactory((bundle, of) -> new Runner(handling));
        scheduler.start();
        return new Node(scheduler);
    }

    @Override
    public Producer producer() throws SchedulerException {
        return new QuartzProducer(scheduler(), true);
    }

    @Override
    public Producer producer(Workers workers) {
        return new QuartzProducer(((Node) workers).scheduler(), false);
    }

    private record QuartzProducer(Scheduler scheduler, boolean own) implements Producer {
        @Override
        public void enqueue(String topic, String payload) throws SchedulerException {
            scheduler.scheduleJob(trigger(UUID.randomUUID().toString(), topic, payload, Instant.now()));
        }

        @Override
        public void enqueueAll(String topic, List<String> payloads) throws SchedulerException {
            Instant now = Instant.now();
            schedule(
                    topic,
                    payloads.stream().map(payload -> new Due(payload, now)).toList());
        }

        @Override
        public void enqueueWith(BusinessChange change, String topic, String payload) {
            throw new UnsupportedOperationException(
                    "expected a system that joins the caller's transaction, got quartz");
        }

        @Override
        public void schedule(String topic, List<Due> messages) throws SchedulerException {
            Set<Trigger> triggers = messages.stream()
                    .map(due -> trigger(UUID.randomUUID().toString(), topic, due.payload(), due.at()))
                    .collect(Collectors.toSet());
            scheduler.scheduleJobs(Map.of(JOB, triggers), true);
        }

        @Override
        public void close() {
            if (own) {
                end(scheduler);
            }
        }
    }

    @Override
    public boolean isDone() throws Exception {
        return tables.isTrue(
                "select not exists (select from qrtz_triggers) and not exists (select from qrtz_fired_triggers)");
    }

    @Override
    public long left() throws Exception {
        return (long) tables.number("select count(*) from qrtz_triggers");
    }

    @Override
    public long failed() throws Exception {
        return (long) tables.number("select count(*) from qrtz_triggers where trigger_state = 'ERROR'");
    }

    @Override
    public void close() {
        pool.close();
        tables.close();
    }
}
