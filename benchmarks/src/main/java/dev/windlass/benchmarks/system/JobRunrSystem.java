package dev.windlass.benchmarks.system;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.StorageProviderUtils.DatabaseOptions;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.jackson.JacksonJsonMapper;

/** JobRunr, its background jobs as messages. */
final class JobRunrSystem implements SystemUnderTest {
    private static final int WORKERS = 64;
    private static final String MARK = "payload-to-replace";
    private static final String COPY = """
            insert into jobrunr_jobs
            select (jsonb_populate_record(job, jsonb_build_object(
                       'id', fresh.id,
                       'jobasjson', replace(replace(job.jobasjson, job.id, fresh.id), '%s', rpad(n || ' ', %d, 'x'))))).*
              from jobrunr_jobs job,
                   lateral (select n, gen_random_uuid()::text as id from generate_series(0, %d - 1) n) fresh
            """;

    private final Tables tables;
    private final HikariDataSource pool;

    JobRunrSystem(Server server) {
        tables = new Tables(server, "bench_jobrunr");
        pool = server.pool(tables.schema(), WORKERS + 8);
    }

    /** The job. */
    public record Message(String topic, String payload) implements JobRequest {
        @Override
        public Class<Runner> getJobRequestHandler() {
            return Runner.class;
        }
    }

    /** Hands the job's message on. */
    public record Runner(Handling handling) implements JobRequestHandler<Message> {
        @Override
        public void run(Message message) throws Exception {
            handling.handle(message.topic(), message.payload());
        }
    }

    @Override
    public String name() {
        return "jobrunr";
    }

    @Override
    public String version() {
        return "8.7.0";
    }

    @Override
    public String settings() {
        return WORKERS + " workers, a pool of " + (WORKERS + 8)
                + " connections, polling every 5 s (the smallest it allows; a worker that ends a job looks for more by"
                + " itself), job requests, Jackson; handled jobs are kept; tried: 10, 25, 50 and 100 workers; 50 and"
                + " 100 were best and alike, this is between them";
    }

    @Override
    public double share() {
        return 0.04;
    }

    @Override
    public Optional<String> cannot(Ability ability) {
        return switch (ability) {
            case TRANSACTION -> Optional.of("not atomic: it writes jobs in transactions of its own");
            case ORDERING -> Optional.of("no ordering");
            case TIMER -> Optional.empty();
        };
    }

    @Override
    public void install() throws Exception {
        tables.recreate();
        storage(DatabaseOptions.CREATE).close();
    }

    private StorageProvider storage(DatabaseOptions options) {
        PostgresStorageProvider storage = new PostgresStorageProvider(pool, options);
        storage.setJobMapper(new JobMapper(mapper()));
        return storage;
    }

    private static JsonMapper mapper() {
        return new JacksonJsonMapper();
    }

    @Override
    public void empty() throws Exception {
        tables.execute("truncate jobrunr_jobs");
    }

    @Override
    public void fill(String topic, int messages, int payloadBytes) throws Exception {
        empty();
        try (Producer producer = producer()) {
            producer.enqueue(topic, MARK);
        }
        tables.execute(COPY.formatted(MARK, payloadBytes, messages));
        tables.execute("delete from jobrunr_jobs where jobasjson like '%" + MARK + "%'");
        tables.settle("jobrunr_jobs");
    }

    private record Node(BackgroundJobServer server, StorageProvider storage) implements Workers {
        @Override
        public void close() {
            server.stop();
            storage.close();
        }
    }

    @Override
    public Workers start(Handling handling, List<String> topics) {
        StorageProvider storage = storage(DatabaseOptions.SKIP_CREATE);
        BackgroundJobServer server = new BackgroundJobServer(
                storage,
                mapper(),
                new Activator(handling),
                BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                        .andPollInterval(Duration.ofSeconds(5))
                        .andInterruptJobsAwaitDurationOnStopBackgroundJobServer(Duration.ofSeconds(1))
                        .andWorkerCount(WORKERS));
        server.start();
        return new Node(server, storage);
    }

    private record Activator(Handling handling) implements JobActivator {
        @Override
        public <T> T activateJob(Class<T> type) {
            return requireNonNull(type.cast(new Runner(handling)));
        }
    }

    @Override
    public Producer producer() {
        return new JobRunrProducer(storage(DatabaseOptions.SKIP_CREATE), true);
    }

    @Override
    public Producer producer(Workers workers) {
        return new JobRunrProducer(((Node) workers).storage(), false);
    }

    private static final class JobRunrProducer implements Producer {
        private final StorageProvider storage;
        private final JobRequestScheduler jobs;
        private final boolean own;

        JobRunrProducer(StorageProvider storage, boolean own) {
            this.storage = storage;
            this.jobs = new JobRequestScheduler(storage);
            this.own = own;
        }

        @Override
        public void enqueue(String topic, String payload) {
            jobs.enqueue(new Message(topic, payload));
        }

        @Override
        public void enqueueAll(String topic, List<String> payloads) {
            jobs.enqueue(payloads.stream().map(payload -> new Message(topic, payload)));
        }

        @Override
        public void enqueueWith(BusinessChange change, String topic, String payload) {
            throw new UnsupportedOperationException(
                    "expected a system that joins the caller's transaction, got jobrunr");
        }

        @Override
        public void schedule(String topic, List<Due> messages) {
            for (Due due : messages) {
                jobs.schedule(due.at(), new Message(topic, due.payload()));
            }
        }

        @Override
        public void close() {
            if (own) {
                storage.close();
            }
        }
    }

    @Override
    public boolean isDone() throws Exception {
        return tables.isTrue("""
                select not exists (select from jobrunr_jobs where state = 'ENQUEUED')
                   and not exists (select from jobrunr_jobs where state = 'PROCESSING')
                   and not exists (select from jobrunr_jobs where state = 'SCHEDULED')
                """);
    }

    @Override
    public long left() throws Exception {
        return (long) tables.number("select count(*) from jobrunr_jobs where state not in ('SUCCEEDED', 'DELETED')");
    }

    @Override
    public long failed() throws Exception {
        return (long) tables.number("select count(*) from jobrunr_jobs where state not in ('SUCCEEDED', 'DELETED')");
    }

    @Override
    public void close() {
        pool.close();
        tables.close();
    }
}
