package dev.windlass.cli.bench;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** From the commit of the first message of a store that was idle to the start of its handler. */
final class FirstMessages {
    /** These are found by polling only, which takes its time. */
    private static final int BY_OTHERS = 5;

    private static final int PAUSE_MILLIS = 50;

    private final BenchStores stores;
    private final StoresBench.Settings settings;
    private final Report report;

    /** Writes the first message of a store, and returns when it was committed. */
    @FunctionalInterface
    private interface Writer {
        long write(Fleet fleet, SharedConnections connections, int number) throws Exception;
    }

    /** When each store's handler started. */
    private static final class Starts {
        private final Map<String, Long> at = new ConcurrentHashMap<>();
        private final CountDownLatch left;

        Starts(int expected) {
            left = new CountDownLatch(expected);
        }

        void note(String store) {
            long now = System.nanoTime();
            if (at.putIfAbsent(store, now) == null) {
                left.countDown();
            }
        }

        void await() throws InterruptedException {
            if (!left.await(5, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected all first messages to be handled, missed " + left.getCount());
            }
        }

        long since(int number, long committed) {
            return at.getOrDefault(BenchStores.id(number), 0L) - committed;
        }
    }

    FirstMessages(BenchStores stores, StoresBench.Settings settings, Report report) {
        this.stores = stores;
        this.settings = settings;
        this.report = report;
    }

    void run() throws Exception {
        int count = settings.firstMessages();
        stores.ensure(count);
        report.say(
                "latency: the first message of each of %,d stores, commit to start of the handler, one every %d ms",
                count, PAUSE_MILLIS);
        tell("this process, inTransaction", Percentiles.of(nanos(count, count, this::within)));
        tell("this process, own commit", Percentiles.of(nanos(count, count, this::ownCommit)));
        long[] others = nanos(count, Math.min(BY_OTHERS, count), this::elsewhere);
        Arrays.sort(others);
        report.say(
                "  another connection, by SQL    min %.2f s   median %.2f s   max %.2f s, of %d; found by polling",
                others[0] / 1e9, others[others.length / 2] / 1e9, others[others.length - 1] / 1e9, others.length);
        report.say("");
    }

    private void tell(String what, Percentiles percentiles) {
        report.say("  %-29s %s", what, percentiles);
    }

    private long[] nanos(int count, int messages, Writer writer) throws Exception {
        Starts starts = new Starts(messages);
        long[] nanos = new long[messages];
        try (SharedConnections connections = SharedConnections.atMost(settings.connections());
                Fleet fleet = open(stores.stores(count, connections), starts)) {
            Thread.sleep(settings.quiet().toMillis());
            for (int i = 0; i < messages; i++) {
                nanos[i] = writer.write(fleet, connections, i + 1);
                Thread.sleep(PAUSE_MILLIS);
            }
            starts.await();
        }
        for (int i = 0; i < messages; i++) {
            nanos[i] = starts.since(i + 1, nanos[i]);
        }
        return nanos;
    }

    private static Fleet open(List<Store> all, Starts starts) throws InterruptedException {
        Fleet fleet = Fleet.over(all)
                .each((store, windlass) -> windlass.options(BenchFleet.options())
                        .outboxHandler(Bench.TOPIC, message -> starts.note(store.id())))
                .start();
        return BenchFleet.awaitRunning(fleet, all);
    }

    private long within(Fleet fleet, SharedConnections connections, int number) {
        Windlass windlass = fleet.at(BenchStores.id(number));
        windlass.inTransaction(connection -> windlass.outbox().enqueue(connection, entry()));
        return System.nanoTime();
    }

    private long ownCommit(Fleet fleet, SharedConnections connections, int number) throws SQLException {
        try (Connection connection = connections.to(stores.source(number)).getConnection()) {
            connection.setAutoCommit(false);
            fleet.outboxes().get(BenchStores.id(number)).enqueue(connection, entry());
            connection.commit();
            return System.nanoTime();
        }
    }

    private long elsewhere(Fleet fleet, SharedConnections connections, int number) throws SQLException {
        try (Connection connection = stores.connect(number)) {
            BenchServer.execute(
                    connection,
                    "select \"" + stores.schema(number) + "\".outbox_enqueue('" + Bench.TOPIC + "', 'first')");
            return System.nanoTime();
        }
    }

    private static OutboxEntry entry() {
        return OutboxEntry.of(Bench.TOPIC, "first");
    }
}
