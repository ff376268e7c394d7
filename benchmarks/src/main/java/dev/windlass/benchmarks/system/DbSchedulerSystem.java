package dev.windlass.benchmarks.system;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.jdbc.PostgreSqlJdbcCustomization;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.SchedulableInstance;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/** db-scheduler, its one-time tasks as messages. */
final class DbSchedulerSystem implements SystemUnderTest {
    private static final int THREADS = 50;
    private static final String TABLE = """
            create table scheduled_tasks (
                task_name text not null,
                task_instance text not null,
                task_data bytea,
                execution_time timestamptz not null,
                picked boolean not null,
                picked_by text,
                last_success timestamptz,
                last_failure timestamptz,
                consecutive_failures int,
                last_heartbeat timestamptz,
                version bigint not null,
                priority smallint,
                primary key (task_name, task_instance));
            create index execution_time_idx on scheduled_tasks (execution_time);
            create index last_heartbeat_idx on scheduled_tasks (last_heartbeat);
            """;
    private static final String COPY = """
            insert into scheduled_tasks (task_name, task_instance, task_data, execution_time, picked, version)
            select '%s', gen_random_uuid()::text, convert_to(rpad(n || ' ', %d, 'x'), 'UTF8'), now(), false, 1
              from generate_series(0, %d - 1) n
            """;

    private final Tables tables;
    private final HikariDataSource pool;

    DbSchedulerSystem(Server server) {
        tables = new Tables(server, "bench_db_scheduler");
        pool = server.pool(tables.schema(), THREADS + 6);
    }

    /** As small as it can be: the default is Java's serialization. */
    private static final class Text implements Serializer {
        @Override
        public byte[] serialize(Object data) {
            return ((String) data).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public <T> T deserialize(Class<T> type, byte[] bytes) {
            return type.cast(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    @Override
    public String name() {
        return "db-scheduler";
    }

    @Override
    public String version() {
        return "16.12.0";
    }

    @Override
    public String settings() {
        return "one-time tasks, pollUsingLockAndFetch(1.0, 4.0), " + THREADS + " threads, a pool of " + (THREADS + 6)
                + " connections, polling every 50 ms, immediate execution, payloads as plain bytes, scheduleBatch also for one (it looks for no"
                + " duplicate); tried: 10, 25, 50 and 100 threads, a lower limit of 0.5, 1 and 2; all"
                + " but 10 threads were alike within the noise";
    }

    @Override
    public double share() {
        return 0.1;
    }

    @Override
    public Optional<String> cannot(Ability ability) {
        return ability == Ability.ORDERING ? Optional.of("no ordering") : Optional.empty();
    }

    @Override
    public void install() throws Exception {
        tables.recreate();
        tables.execute(TABLE);
    }

    @Override
    public void empty() throws Exception {
        tables.execute("truncate scheduled_tasks");
    }

    @Override
    public void fill(String topic, int messages, int payloadBytes) throws Exception {
        empty();
        tables.execute(COPY.formatted(topic, payloadBytes, messages));
        tables.settle("scheduled_tasks");
    }

    private record Node(Scheduler scheduler) implements Workers {
        @Override
        public void close() {
            scheduler.stop();
        }
    }

    @Override
    public Workers start(Handling handling, List<String> topics) {
        List<Task<?>> tasks = new ArrayList<>();
        for (String topic : topics) {
            tasks.add(Tasks.oneTime(topic, String.class).execute((instance, context) -> {
                try {
                    handling.handle(topic, instance.getData());
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        Scheduler scheduler = Scheduler.create(pool, tasks)
                .threads(THREADS)
                .pollUsingLockAndFetch(1.0, 4.0)
                .pollingInterval(Duration.ofMillis(50))
                .enableImmediateExecution()
                .jdbcCustomization(new PostgreSqlJdbcCustomization(false, false))
                .serializer(new Text())
                .build();
        scheduler.start();
        return new Node(scheduler);
    }

    @Override
    public Producer producer() {
        return new DbSchedulerProducer(client(pool));
    }

    @Override
    public Producer producer(Workers workers) {
        return new DbSchedulerProducer(((Node) workers).scheduler());
    }

    private static SchedulerClient client(DataSource source) {
        return SchedulerClient.Builder.create(source)
                .jdbcCustomization(new PostgreSqlJdbcCustomization(false, false))
                .serializer(new Text())
                .build();
    }

    private final class DbSchedulerProducer implements Producer {
        private final SchedulerClient client;
        private final SchedulerClient within = client(new TransactionAwareDataSourceProxy(pool));
        private final TransactionTemplate transactions =
                new TransactionTemplate(new DataSourceTransactionManager(pool));

        DbSchedulerProducer(SchedulerClient client) {
            this.client = client;
        }

        @Override
        public void enqueue(String topic, String payload) {
            client.scheduleBatch(List.of(instance(topic, payload)), Instant.now());
        }

        private TaskInstance<String> instance(String topic, String payload) {
            return new TaskInstance<>(topic, UUID.randomUUID().toString(), payload);
        }

        @Override
        public void enqueueAll(String topic, List<String> payloads) {
            client.scheduleBatch(
                    payloads.stream()
                            .<TaskInstance<?>>map(each -> instance(topic, each))
                            .toList(),
                    Instant.now());
        }

        /** As its documentation says: a client whose data source follows Spring's transactions. */
        @Override
        public void enqueueWith(BusinessChange change, String topic, String payload) {
            transactions.executeWithoutResult(status -> {
                Connection connection = DataSourceUtils.getConnection(pool);
                try {
                    change.write(connection);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                } finally {
                    DataSourceUtils.releaseConnection(connection, pool);
                }
                within.scheduleBatch(List.of(instance(topic, payload)), Instant.now());
            });
        }

        @Override
        public void schedule(String topic, List<Due> messages) {
            client.scheduleBatch(messages.stream()
                    .<SchedulableInstance<?>>map(
                            due -> SchedulableInstance.of(instance(topic, due.payload()), due.at()))
                    .toList());
        }
    }

    @Override
    public boolean isDone() throws Exception {
        return tables.isTrue("select not exists (select from scheduled_tasks)");
    }

    @Override
    public long left() throws Exception {
        return (long) tables.number("select count(*) from scheduled_tasks");
    }

    @Override
    public long failed() throws Exception {
        return (long) tables.number("select count(*) from scheduled_tasks where consecutive_failures > 0");
    }

    @Override
    public void close() {
        pool.close();
        tables.close();
    }
}
