package dev.windlass.benchmarks.system;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.ThreadLocalContextTransactionManager;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** transaction-outbox, calls of an interface as messages. */
final class TransactionOutboxSystem implements SystemUnderTest {
    private static final int THREADS = 32;
    private static final int BATCH = 1000;
    private static final String MARK = "payload-to-replace";
    private static final String COPY = """
            insert into txno_outbox
            select (jsonb_populate_record(t, jsonb_build_object(
                       'id', gen_random_uuid()::text,
                       'nextattempttime', t.nextattempttime - interval '1 h',
                       'invocation', replace(t.invocation, '%s', rpad(n || ' ', %d, 'x'))))).*
              from txno_outbox t, generate_series(0, %d - 1) n
            """;

    private final Tables tables;
    private final HikariDataSource pool;

    TransactionOutboxSystem(Server server) {
        tables = new Tables(server, "bench_transaction_outbox");
        pool = server.pool(tables.schema(), THREADS + 12);
    }

    /** What is called later. */
    public interface Call {
        void run(String topic, String payload) throws Exception;
    }

    @Override
    public String name() {
        return "transaction-outbox";
    }

    @Override
    public String version() {
        return "4.2.268";
    }

    @Override
    public String settings() {
        return "PostgreSQL dialect, " + THREADS + " threads, a pool of " + (THREADS + 12)
                + " connections, immediate submission after the commit, flush in a loop in batches of 1,000 (every 10 ms"
                + " when there is nothing); a process that only writes makes its messages due after 1 s (with less, its validation"
                + " refuses messages when the machine is busy); tried: 10, 25, 50 and 100 threads; 25 was best,"
                + " this is near it";
    }

    @Override
    public double share() {
        return 0.06;
    }

    @Override
    public Optional<String> cannot(Ability ability) {
        return switch (ability) {
            case TRANSACTION -> Optional.empty();
            case ORDERING -> Optional.of("no ordering in this version");
            case TIMER -> Optional.of("no due times in this version");
        };
    }

    @Override
    public void install() throws Exception {
        tables.recreate();
        outbox(transactions(), (topic, payload) -> {}, (entry, local) -> {}, Duration.ofMinutes(1));
    }

    private ThreadLocalContextTransactionManager transactions() {
        return TransactionManager.fromDataSource(pool);
    }

    private static TransactionOutbox outbox(
            TransactionManager transactions, Call call, Submitter submitter, Duration dueAfter) {
        return TransactionOutbox.builder()
                .transactionManager(transactions)
                .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                .instantiator(Instantiator.using(type -> call))
                .submitter(submitter)
                .attemptFrequency(dueAfter)
                .flushBatchSize(BATCH)
                .serializeMdc(false)
                .build();
    }

    @Override
    public void empty() throws Exception {
        tables.execute("truncate txno_outbox");
    }

    @Override
    public void fill(String topic, int messages, int payloadBytes) throws Exception {
        empty();
        try (Producer producer = producer(Duration.ofMinutes(1))) {
            producer.enqueue(topic, MARK);
        }
        tables.execute(COPY.formatted(MARK, payloadBytes, messages));
        tables.execute("delete from txno_outbox where invocation like '%" + MARK + "%'");
        tables.settle("txno_outbox");
    }

    /** Flushes in a loop, unless enough waits in memory. */
    private static final class Node implements Workers {
        final ThreadLocalContextTransactionManager transactions;
        final TransactionOutbox outbox;
        private final ThreadPoolExecutor threads =
                new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        private final Thread flusher = new Thread(this::flush, "flush");
        private volatile boolean closed;

        Node(ThreadLocalContextTransactionManager transactions, Handling handling) {
            this.transactions = transactions;
            outbox = outbox(transactions, handling::handle, Submitter.withExecutor(threads), Duration.ofMinutes(1));
        }

        Node begin() {
            flusher.start();
            return this;
        }

        private void flush() {
            while (!closed) {
                if (threads.getQueue().size() >= BATCH) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                } else if (!outbox.flush()) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
                }
            }
        }

        @Override
        public void close() {
            closed = true;
            threads.shutdown();
            try {
                flusher.join();
                if (!threads.awaitTermination(10, TimeUnit.SECONDS)) {
                    threads.shutdownNow();
                }
            } catch (InterruptedException e) {
                threads.shutdownNow();
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public Workers start(Handling handling, List<String> topics) {
        return new Node(transactions(), handling).begin();
    }

    @Override
    public Producer producer() {
        return producer(Duration.ofSeconds(1));
    }

    private Producer producer(Duration dueAfter) {
        ThreadLocalContextTransactionManager transactions = transactions();
        return new OutboxProducer(
                transactions, outbox(transactions, (topic, payload) -> {}, (entry, local) -> {}, dueAfter));
    }

    @Override
    public Producer producer(Workers workers) {
        Node node = (Node) workers;
        return new OutboxProducer(node.transactions, node.outbox);
    }

    private record OutboxProducer(ThreadLocalContextTransactionManager transactions, TransactionOutbox outbox)
            implements Producer {
        @Override
        public void enqueue(String topic, String payload) throws Exception {
            transactions.inTransactionThrows(
                    transaction -> outbox.schedule(Call.class).run(topic, payload));
        }

        @Override
        public void enqueueAll(String topic, List<String> payloads) throws Exception {
            transactions.inTransactionThrows(transaction -> {
                for (String payload : payloads) {
                    outbox.schedule(Call.class).run(topic, payload);
                }
            });
        }

        @Override
        public void enqueueWith(BusinessChange change, String topic, String payload) throws Exception {
            transactions.inTransactionThrows(transaction -> {
                change.write(transaction.connection());
                outbox.schedule(Call.class).run(topic, payload);
            });
        }

        @Override
        public void schedule(String topic, List<Due> messages) {
            throw new UnsupportedOperationException("expected a system with due times, got transaction-outbox");
        }
    }

    @Override
    public boolean isDone() throws Exception {
        return tables.isTrue("select not exists (select from txno_outbox)");
    }

    @Override
    public long left() throws Exception {
        return (long) tables.number("select count(*) from txno_outbox");
    }

    @Override
    public long failed() throws Exception {
        return (long) tables.number("select count(*) from txno_outbox where attempts > 0");
    }

    @Override
    public void close() {
        pool.close();
        tables.close();
    }
}
