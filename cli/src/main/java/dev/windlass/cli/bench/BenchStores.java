package dev.windlass.cli.bench;

import dev.windlass.base.WindlassException;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores that the bench makes on one server, and drops at the end, also when it is broken off. What had such a name before is
 * refused, and left as it is. They are numbered from 1 on.
 */
abstract class BenchStores implements AutoCloseable {
    static final String PREFIX = "windlass_bench_";

    private static final Logger log = LoggerFactory.getLogger(BenchStores.class);
    private static final Duration TELL_EVERY = Duration.ofSeconds(10);

    /** On two cores and one disk, four were made in the time of two and a half. */
    private static final int AT_ONCE = 4;

    final BenchServer server;
    final Report report;
    private final Set<String> made = ConcurrentHashMap.newKeySet();
    private final ReadWriteLock making = new ReentrantReadWriteLock();
    private final Thread hook = new Thread(this::breakOff, "bench-end");
    private final boolean throwAway;
    private int count;
    private volatile boolean ended;

    /**
     * @param throwAway whether the server goes with all it has: to drop a database waits for a checkpoint, up to a second
     */
    BenchStores(BenchServer server, Report report, boolean throwAway) {
        this.server = server;
        this.report = report;
        this.throwAway = throwAway;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** What one of them is, in words. */
    abstract String kind();

    /** All there are on the server whose names begin as ours do. */
    abstract Set<String> present() throws SQLException;

    /** Refuses more than there is room for. */
    abstract void prepare(int more) throws SQLException;

    abstract void make(Connection connection, String name) throws SQLException;

    abstract void drop(Connection connection, String name) throws SQLException;

    /** Of a store, without a pool, for a fleet. Always the same. */
    abstract DataSource source(int number);

    abstract String schema(int number);

    /** To the database of a store, for the bench itself. */
    abstract Connection connect(int number) throws SQLException;

    /** The databases in which a fleet over so many stores works. */
    abstract List<String> databases(int stores) throws SQLException;

    final String many(int number) {
        return String.format(Locale.ROOT, number == 1 ? "%,d %s" : "%,d %ss", number, kind());
    }

    static String name(int number) {
        return PREFIX + number;
    }

    static List<Integer> numbers(int stores) {
        return IntStream.rangeClosed(1, stores).boxed().toList();
    }

    static String id(int number) {
        return Integer.toString(number);
    }

    final Store store(int number, SharedConnections connections) {
        return Store.of(id(number), connections.to(source(number))).withSchema(schema(number));
    }

    final List<Store> stores(int stores, SharedConnections connections) {
        return numbers(stores).stream()
                .map(number -> store(number, connections))
                .toList();
    }

    /** Fails if there are some that this run has not made. */
    final void refuseOthers() throws SQLException {
        Set<String> others = present();
        if (!others.isEmpty()) {
            throw new WindlassException(
                    "expected no %s whose name begins with %s, found %,d, such as %s; nothing was touched: drop them, if nobody"
                                    .formatted(
                                            kind(),
                                            PREFIX,
                                            others.size(),
                                            others.iterator().next())
                            + " needs them");
        }
    }

    /** So many at least. */
    final void ensure(int stores) throws Exception {
        if (stores <= count) {
            return;
        }
        prepare(stores - count);
        long start = System.nanoTime();
        Progress progress = new Progress(report, "  %,d of " + many(stores - count) + " are made", TELL_EVERY);
        AtOnce.run(AT_ONCE, numbers(stores).subList(count, stores), number -> {
            try (Connection connection = server.connect()) {
                add(connection, name(number));
            }
            progress.one();
        });
        report.say("made %s in %.0f s", many(stores - count), (System.nanoTime() - start) / 1e9);
        count = stores;
    }

    /** Remembered before it is made, and not made after the end has begun: whatever is made is dropped. */
    final void add(Connection connection, String name) throws SQLException {
        making.readLock().lock();
        try {
            if (ended) {
                throw new WindlassException("expected to go on making stores, got an order to end");
            }
            made.add(name);
            make(connection, name);
        } finally {
            making.readLock().unlock();
        }
    }

    @Override
    public final void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            log.debug("the process is ending");
        }
    }

    private void breakOff() {
        BenchLogFilter.breakOff();
        end();
    }

    private void end() {
        ended = true;
        making.writeLock().lock();
        try {
            if (!made.isEmpty() && !throwAway) {
                dropAll();
            }
        } finally {
            making.writeLock().unlock();
        }
    }

    private void dropAll() {
        report.say("dropping %s", many(made.size()));
        try (Connection connection = server.connect()) {
            for (String name : List.copyOf(made)) {
                drop(connection, name);
                made.remove(name);
            }
        } catch (SQLException e) {
            log.warn(
                    "could not drop {} (SQLSTATE {}), such as {}",
                    many(made.size()),
                    e.getSQLState(),
                    made.iterator().next());
        }
    }
}
