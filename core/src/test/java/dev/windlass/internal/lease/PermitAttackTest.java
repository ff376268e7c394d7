package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Statements;
import dev.windlass.internal.lease.LeaseStore.Renewal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Many who take, renew and give back in transactions that commit late, roll back, or lose their connection, beside others that
 * lock rows and clean up. What each was told, put together afterwards, never makes more holders than there are permits.
 *
 * <p>The system properties {@code windlass.seed} and {@code windlass.attack.seconds} repeat a run, as far as threads can be
 * repeated, and make it longer.
 */
@Timeout(600)
final class PermitAttackTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final int ATTACKERS = 16;
    private static final String NAME = "attacked";
    private static final int ENOUGH = 20;
    private static final Duration LENGTH = Duration.ofSeconds(Integer.getInteger("windlass.attack.seconds", 4));
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final long seed = Long.getLong("windlass.seed", System.nanoTime());
    private final long end = System.nanoTime() + LENGTH.toNanos();
    private final Queue<Hold> history = new ConcurrentLinkedQueue<>();
    private final AtomicInteger lateRenewals = new AtomicInteger();
    private final AtomicInteger broken = new AtomicInteger();

    /** From when until when a holder was told that it has a permit, by the database's clock. */
    private static final class Hold {
        final LeaseClaim claim;
        final boolean repeated;
        final long token;
        final Instant from;
        volatile Instant until;

        Hold(LeaseClaim claim, boolean repeated, AcquireAnswer answer) {
            this.claim = claim;
            this.repeated = repeated;
            this.token = answer.fencingToken();
            this.from = answer.serverTime();
            this.until = answer.expiresAt();
        }

        boolean covers(Instant moment) {
            return !moment.isBefore(from) && moment.isBefore(until);
        }

        @Override
        public String toString() {
            return token + ": " + from + " to " + until;
        }
    }

    /** With 0, it is a lease: one holder. With more, each asks for a little more or less, as in a rolling deploy. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4})
    void thereAreNeverMoreHoldersThanPermits(int permits) throws Exception {
        List<Callable<Void>> all = new ArrayList<>();
        for (int i = 0; i < ATTACKERS; i++) {
            all.add(new Attacker(new Random(seed + i), permits));
        }
        all.add(this::killConnections);
        all.add(() -> lockRows("select 1 from %s.lease_semaphore for update"));
        all.add(() -> lockRows("select 1 from %s.lease order by random() limit 1 for update skip locked"));
        all.add(this::clean);
        run(all);

        List<Hold> holds = history.stream()
                .sorted(Comparator.comparing(hold -> hold.token))
                .toList();
        assertThat(holds).as("seed %s", seed).hasSizeGreaterThan(ENOUGH);
        assertThat(lateRenewals).as("renewals that were committed too late").hasPositiveValue();
        assertThat(broken).as("broken connections").hasPositiveValue();
        assertThat(holds).extracting(hold -> hold.token).doesNotHaveDuplicates();
        assertThat(holds)
                .filteredOn(hold -> !hold.repeated)
                .extracting(hold -> hold.from)
                .isSorted();
        for (Hold hold : holds) {
            assertThat(holds.stream().filter(other -> other.covers(hold.from)))
                    .as("seed %s: who has it when %s is taken", seed, hold)
                    .hasSizeLessThanOrEqualTo(Math.max(1, hold.claim.permits()));
        }
    }

    private static void run(List<Callable<Void>> all) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(all.size());
        try {
            for (Future<Void> each : threads.invokeAll(all)) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Longer than it is to be, on a machine that is so slow that there is too little to judge by. */
    private boolean goesOn() {
        long over = System.nanoTime() - end;
        return over < 0 || (over < PATIENCE.toNanos() && !isEnough());
    }

    private boolean isEnough() {
        return history.size() > ENOUGH && lateRenewals.get() > 0 && broken.get() > 0;
    }

    private static PGSimpleDataSource source() {
        PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
        source.setApplicationName("attacker");
        return source;
    }

    /** Works on one permit at a time, and notes what it is told. */
    private final class Attacker implements Callable<Void> {
        private final Random random;
        private final int permits;
        private final Database routines = database.routines();
        private final LeaseStore store = new LeaseStore(routines, "lease");
        private @Nullable Connection connection;
        private LeaseClaim claim;
        private boolean repeating;
        private @Nullable Hold hold;

        Attacker(Random random, int permits) {
            this.random = random;
            this.permits = permits;
            this.claim = nextClaim();
        }

        private LeaseClaim nextClaim() {
            int mine = permits < 2 ? permits : permits - 1 + random.nextInt(3);
            return LeaseClaim.of(NAME, mine, "attacker", Duration.ofMillis(10 + random.nextInt(90)));
        }

        @Override
        public Void call() throws Exception {
            while (goesOn()) {
                step();
            }
            discard();
            return null;
        }

        private void step() throws InterruptedException {
            if (hold == null) {
                acquire();
            } else if (random.nextInt(5) > 0) {
                renew(hold);
            } else {
                release(hold);
            }
            Thread.sleep(random.nextInt(20));
        }

        /** An answer that was lost is asked for again by the same holder, or never. */
        private void acquire() throws InterruptedException {
            Optional<AcquireAnswer> answer = committed(open -> store.acquire(open, claim, null));
            if (answer.isPresent() && answer.get().acquired()) {
                hold = new Hold(claim, repeating, answer.get());
                history.add(hold);
            } else if (answer.isPresent() || random.nextBoolean()) {
                claim = nextClaim();
            }
            repeating = answer.isEmpty();
        }

        private void renew(Hold held) throws InterruptedException {
            Instant before = held.until;
            Optional<List<Renewal>> answer = committed(
                    open -> List.copyOf(store.renew(open, List.of(held.claim)).values()));
            if (answer.isEmpty() || answer.get().isEmpty()) {
                return;
            }
            Renewal renewal = answer.get().get(0);
            if (renewal.renewed()) {
                held.until = renewal.expiresAt();
                if (now().map(before::isBefore).orElse(false)) {
                    lateRenewals.incrementAndGet();
                }
            } else {
                forget();
            }
        }

        /** Whoever gives it back does not use it any more, whatever comes of it. */
        private void release(Hold held) throws InterruptedException {
            Optional<Instant> called = now();
            if (called.isPresent()) {
                held.until = called.get().isBefore(held.until) ? called.get() : held.until;
                committed(open -> store.release(open, held.claim));
                forget();
            }
        }

        private void forget() {
            hold = null;
            claim = nextClaim();
        }

        private Optional<Instant> now() throws InterruptedException {
            return attempt(open -> {
                try (PreparedStatement statement = open.prepareStatement("select clock_timestamp()");
                        ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getObject(1, OffsetDateTime.class).toInstant();
                }
            });
        }

        /** What was said, if it was committed: sometimes late, sometimes not at all. */
        private <T> Optional<T> committed(Database.Work<T> work) throws InterruptedException {
            int pause = random.nextInt(3) == 0 ? random.nextInt(200) : 0;
            boolean commits = random.nextInt(6) > 0;
            Optional<T> said = attempt(work);
            if (said.isPresent()) {
                Thread.sleep(pause);
            }
            return said.isPresent() && attempt(open -> end(open, commits)).orElse(false) ? said : Optional.empty();
        }

        private static boolean end(Connection open, boolean commits) throws SQLException {
            if (commits) {
                open.commit();
            } else {
                open.rollback();
            }
            return commits;
        }

        private <T> Optional<T> attempt(Database.Work<T> work) {
            try {
                return Optional.of(work.run(open()));
            } catch (SQLException e) {
                broken.incrementAndGet();
                discard();
                return Optional.empty();
            }
        }

        private Connection open() throws SQLException {
            Connection open = connection;
            if (open == null) {
                open = source().getConnection();
                open.setAutoCommit(false);
                connection = open;
            }
            return open;
        }

        private void discard() {
            Statements.abort(connection);
            connection = null;
        }
    }

    private Void killConnections() throws Exception {
        try (Connection connection = database.owner().getConnection();
                Statement statement = connection.createStatement()) {
            while (goesOn()) {
                Thread.sleep(40);
                statement.execute("select pg_terminate_backend(pid) from pg_stat_activity"
                        + " where application_name = 'attacker' order by random() limit 1");
            }
        }
        return null;
    }

    private Void lockRows(String sql) throws Exception {
        Random random = new Random(seed);
        try (Connection connection = database.owner().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            while (goesOn()) {
                statement.execute(sql.replace("%s", "\"" + database.schema() + "\""));
                Thread.sleep(random.nextInt(50));
                connection.rollback();
                Thread.sleep(random.nextInt(200));
            }
        }
        return null;
    }

    private Void clean() throws Exception {
        Database routines = database.routines();
        LeaseStore store = new LeaseStore(routines, "lease");
        while (goesOn()) {
            Thread.sleep(30);
            routines.once(connection -> store.clean(connection, Duration.ZERO, 10));
        }
        return null;
    }
}
