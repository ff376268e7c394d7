package dev.windlass.benchmarks.system;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.TimerEntry;
import java.time.Duration;
import java.util.List;

/** Windlass, in one of the ways it can be set up. */
public final class WindlassSystem implements SystemUnderTest {
    public static final int CONNECTIONS = 16;
    private static final int PER_CALL = 1000;
    private static final String FILL = """
            do $$
            begin
                for i in 0 .. (%2$d + 999) / 1000 - 1 loop
                    perform %1$s.outbox_enqueue_all(
                                null, array_agg('%4$s'::text), array_agg(rpad(n || ' ', %3$d, 'x')), p_notify => false,
                                p_ordering_keys => case when %5$d > 0 then array_agg('key ' || n %% nullif(%5$d, 0)) end)
                       from generate_series(i * 1000, least((i + 1) * 1000, %2$d) - 1) n;
                    commit;
                end loop;
            end $$
            """;

    private final String name;
    private final String settings;
    private final OutboxOptions outbox;
    private final Tables tables;
    private final HikariDataSource pool;

    private WindlassSystem(Server server, String name, String settings, OutboxOptions outbox) {
        this.name = name;
        this.settings = settings;
        this.outbox = outbox;
        this.tables = new Tables(server, "bench_" + name.replace('-', '_'));
        this.pool = server.pool(tables.schema(), CONNECTIONS);
    }

    static WindlassSystem asInstalled(Server server) {
        return new WindlassSystem(
                server,
                "windlass",
                "as installed: every default (batches of 50, 16 handlers, handled messages kept for 7 days)",
                OutboxOptions.defaults());
    }

    static WindlassSystem tuned(Server server) {
        return new WindlassSystem(
                server,
                "windlass-tuned",
                "batches of 1,000, retention zero: handled messages are deleted at once; otherwise the defaults",
                OutboxOptions.defaults().withBatchSize(PER_CALL).withRetention(Duration.ZERO));
    }

    static WindlassSystem kept(Server server) {
        return new WindlassSystem(
                server,
                "windlass-tuned-kept",
                "batches of 1,000, handled messages kept for 7 days; otherwise the defaults",
                OutboxOptions.defaults().withBatchSize(PER_CALL));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String version() {
        return "this checkout";
    }

    @Override
    public String settings() {
        return settings + "; a pool of " + CONNECTIONS + " connections";
    }

    @Override
    public double share() {
        return 1;
    }

    public Tables tables() {
        return tables;
    }

    public HikariDataSource pool() {
        return pool;
    }

    public boolean keeps() {
        return !outbox.queue().retention().isZero();
    }

    /** With everything but handlers. */
    public WindlassBuilder builder() {
        return Windlass.on(pool).options(options()).outbox(outbox);
    }

    public WindlassOptions options() {
        return WindlassOptions.defaults().withSchemaName(tables.schema()).withShutdownGrace(Duration.ofSeconds(5));
    }

    /** One that only writes. */
    public Windlass writer() {
        return builder().options(options().withBackgroundWorkers(false)).start();
    }

    @Override
    public void install() throws Exception {
        tables.execute("drop schema if exists " + tables.schema() + " cascade");
        builder().migrator().migrate();
    }

    @Override
    public void empty() throws Exception {
        tables.execute("truncate outbox, outbox_key, outbox_dedup, outbox_timer, inbox, inbox_seen, work cascade");
    }

    @Override
    public void fill(String topic, int messages, int payloadBytes) throws Exception {
        fillOrdered(topic, messages, payloadBytes, 0);
    }

    @Override
    public void fillOrdered(String topic, int messages, int payloadBytes, int keys) throws Exception {
        empty();
        tables.execute(FILL.formatted(tables.schema(), messages, payloadBytes, topic, keys));
        tables.settle("outbox");
    }

    private record Node(Windlass windlass) implements Workers {
        @Override
        public void close() {
            windlass.close();
        }
    }

    @Override
    public Workers start(Handling handling, List<String> topics) {
        WindlassBuilder builder = builder();
        for (String topic : topics) {
            builder.outboxHandler(topic, message -> handling.handle(topic, message.payload()));
        }
        return new Node(builder.start());
    }

    @Override
    public Producer producer() {
        return new WindlassProducer(writer(), true);
    }

    @Override
    public Producer producer(Workers workers) {
        return new WindlassProducer(((Node) workers).windlass(), false);
    }

    private record WindlassProducer(Windlass windlass, boolean own) implements Producer {
        @Override
        public void enqueue(String topic, String payload) {
            windlass.outbox().enqueue(OutboxEntry.of(topic, payload));
        }

        @Override
        public void enqueueAll(String topic, List<String> payloads) {
            windlass.outbox()
                    .enqueueAll(payloads.stream()
                            .map(payload -> OutboxEntry.of(topic, payload))
                            .toList());
        }

        @Override
        public void enqueueWith(BusinessChange change, String topic, String payload) throws Exception {
            windlass.inTransaction(connection -> {
                change.write(connection);
                return windlass.outbox().enqueue(connection, OutboxEntry.of(topic, payload));
            });
        }

        @Override
        public void schedule(String topic, List<Due> messages) {
            windlass.timers()
                    .scheduleAll(messages.stream()
                            .map(due -> TimerEntry.of(topic, due.payload(), due.at()))
                            .toList());
        }

        @Override
        public void close() {
            if (own) {
                windlass.close();
            }
        }
    }

    @Override
    public boolean isDone() throws Exception {
        return tables.isTrue(
                keeps() ? """
                select not exists (select from outbox where status = 0 and not keyed)
                   and not exists (select from outbox where status = 1)
                   and not exists (select from outbox where status = 4)
                   and not exists (select from outbox_timer)
                """ : "select not exists (select from outbox) and not exists (select from outbox_timer)");
    }

    @Override
    public long left() throws Exception {
        return (long) tables.number("select count(*) from outbox where status in (0, 1, 4)");
    }

    @Override
    public long failed() throws Exception {
        return (long) tables.number("select count(*) from outbox where status in (3, 5)");
    }

    @Override
    public void close() {
        pool.close();
        tables.close();
    }
}
