package dev.windlass.benchmarks.scenario;

import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.Tables;
import dev.windlass.lease.Lease;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** Leases beside the locks of ShedLock. */
final class LeaseCalls implements Scenario {
    private static final String TAKEN = "acquire and release";
    private static final String REFUSED = "refused";
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String NAME = "bench";
    private static final String HELD = "held";
    private static final String UPSERT = """
            insert into bare (name, holder, expires_at) values (?, gen_random_uuid(), clock_timestamp() + interval '30 s')
            on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
            """;

    private double upserts;

    @Override
    public String name() {
        return "leases";
    }

    @Override
    public String title() {
        return "Leases";
    }

    @Override
    public String about() {
        return "Acquire and release of one lease by one thread, and acquisitions that are refused because somebody else has it, beside"
                + " ShedLock 7.10.1 (JDBC template, time of the database). The yardstick is a bare upsert of one row, of which acquire"
                + " and release need two. Windlass's leases have a fencing token and are renewed; ShedLock's have neither.";
    }

    @Override
    public String shown() {
        return TAKEN;
    }

    @Override
    public void run(Lab lab) throws Exception {
        if (lab.windlass("windlass").isEmpty()) {
            lab.leaveOut("shedlock", "it is measured beside windlass, which was not asked for");
            return;
        }
        int calls = Math.max(40, lab.scale().messages() / 50);
        try (Tables tables = new Tables(lab.server(), "bench_leases");
                HikariDataSource pool = lab.server().pool("bench_leases", 4);
                Windlass windlass = lab.windlass("windlass").get().writer();
                Lease held = windlass.leases().tryAcquire(HELD, LEASE).orElseThrow()) {
            prepare(tables);
            LockProvider shedlock = shedlock(pool);
            SimpleLock other = shedlock.lock(lock(HELD)).orElseThrow();
            lab.interleave(List.of(
                    new Step("bare upsert", sink -> {
                        upserts = BareRows.rate(calls, 1, 1, () -> upsert(pool));
                        sink.put("upsert", Unit.PER_SECOND, upserts);
                    }),
                    new Step("windlass", sink -> {
                        put(
                                sink,
                                BareRows.rate(
                                        calls,
                                        1,
                                        1,
                                        () -> windlass.leases()
                                                .tryAcquire(NAME, LEASE)
                                                .orElseThrow()
                                                .close()));
                        sink.put(
                                REFUSED,
                                Unit.PER_SECOND,
                                BareRows.rate(
                                        calls,
                                        1,
                                        1,
                                        () -> refused(windlass.leases().tryAcquire(held.name(), LEASE))));
                    }),
                    new Step("shedlock", sink -> {
                        put(
                                sink,
                                BareRows.rate(
                                        calls,
                                        1,
                                        1,
                                        () -> shedlock.lock(lock(NAME))
                                                .orElseThrow()
                                                .unlock()));
                        sink.put(
                                REFUSED,
                                Unit.PER_SECOND,
                                BareRows.rate(calls, 1, 1, () -> refused(shedlock.lock(lock(HELD)))));
                    })));
            other.unlock();
        }
    }

    private void put(Lab.Sink sink, double rate) {
        sink.put(TAKEN, Unit.PER_SECOND, rate);
        sink.put("of upserts", Unit.PART, rate / upserts);
    }

    private static void prepare(Tables tables) throws SQLException {
        tables.execute("drop schema if exists bench_leases cascade");
        tables.execute("create schema bench_leases");
        tables.execute(
                "create table bench_leases.shedlock (name varchar(64) primary key, lock_until timestamp not null,"
                        + " locked_at timestamp not null, locked_by varchar(255) not null)");
        tables.execute("create table bench_leases.bare (name text primary key, holder uuid, expires_at timestamptz)"
                + " with (fillfactor = 50)");
    }

    private static LockProvider shedlock(HikariDataSource pool) {
        return new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
    }

    private static LockConfiguration lock(String name) {
        return new LockConfiguration(Instant.now(), name, Duration.ofMinutes(30), Duration.ZERO);
    }

    private static void refused(Optional<?> lease) {
        if (lease.isPresent()) {
            throw new IllegalStateException("expected a lease that somebody else has to be refused, got it");
        }
    }

    private static void upsert(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement upsert = connection.prepareStatement(UPSERT)) {
            upsert.setString(1, NAME);
            upsert.executeUpdate();
        }
    }
}
