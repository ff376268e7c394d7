package dev.windlass.internal.loop;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.Deadline;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** One lookout, and two who ask: one question is sick, or the whole database. */
final class RefusedLooksTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Workers workers = new Workers();
    private final AtomicInteger connections = new AtomicInteger();
    private final DataSource source = (DataSource) Proxy.newProxyInstance(
            RefusedLooksTest.class.getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                connections.incrementAndGet();
                try {
                    return method.invoke(database.owner(), arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    private final Database looking =
            new Database(source, new PostgresDialect(), database.schema(), "looks").cancelling(workers::later);
    private final Lookout lookout =
            new Lookout(looking, workers, Duration.ofSeconds(30), true, Duration.ofMillis(1500));
    private final Asks well = new Asks("outbox_look");
    private final Asks sick = new Asks("sick_look");

    private final class Asks implements Lookout.Watcher {
        private final String routine;
        final AtomicInteger told = new AtomicInteger();
        final AtomicInteger toldNothing = new AtomicInteger();
        private final List<Long> toldNothingAt = new CopyOnWriteArrayList<>();

        Asks(String routine) {
            this.routine = routine;
        }

        @Override
        public Duration period() {
            return Duration.ofSeconds(10);
        }

        @Override
        public Call asks(Connection connection) {
            return looking.call(connection, routine).texts(null).bool(false);
        }

        @Override
        public Duration sees(Lookout.Seen seen) {
            if (seen.equals(Lookout.Seen.UNKNOWN)) {
                toldNothingAt.add(System.nanoTime());
                toldNothing.incrementAndGet();
            } else {
                told.incrementAndGet();
            }
            return Loop.PARKED;
        }

        /** How long it was not asked, between one answer that told nothing and the next. */
        Duration pause(int number) {
            return Duration.ofNanos(toldNothingAt.get(number + 1) - toldNothingAt.get(number));
        }
    }

    @BeforeEach
    void prepare() throws SQLException {
        sick("");
        lookout.hears(Signals.Hearing.NOTHING); // a look each second
    }

    /** What it does before it answers. */
    private static void sick(String first) throws SQLException {
        database.execute("create or replace function %s.sick_look(p_topics text[], p_others boolean)"
                + " returns %s.windlass_look language plpgsql as $$ begin " + first
                + " return %s.outbox_look(p_topics, p_others); end $$");
    }

    private void start() {
        lookout.add(well);
        lookout.add(sick);
        lookout.start();
    }

    @AfterEach
    void end() {
        lookout.askToStop();
        lookout.end(Deadline.in(System::nanoTime, Duration.ofSeconds(5)));
        workers.close();
    }

    @Test
    void oneThatTakesTooLongIsAskedAloneAndTheDatabaseIsNotAway() throws SQLException {
        sick("perform pg_sleep(60);");
        try (Logs logs = Logs.collect(Level.WARN)) {
            start();
            eventually().until(() -> well.told.get() > 1 && sick.toldNothing.get() > 0);
            assertThat(logs.at(Level.WARN)).noneMatch(text -> text.contains("is away"));
            assertThat(logs.count(Level.WARN, "looking for work failed and goes on trying"))
                    .isEqualTo(1);
        }
        sick("");
        eventually().until(() -> sick.told.get() > 0);
    }

    @Test
    void whoseTableIsLockedIsToldWhenTheLockIsGone() throws SQLException {
        sick("raise lock_not_available;");
        start();
        eventually().until(() -> well.told.get() > 1);
        assertThat(sick.toldNothing).hasValue(0);

        sick("");
        eventually().until(() -> sick.told.get() > 0);
        assertThat(sick.toldNothing).hasValue(0);
    }

    /** After a second, and then after two. */
    @Test
    void whoIsRefusedIsToldToLookByItselfAfterGrowingPauses() throws SQLException {
        sick("raise insufficient_privilege;");
        start();
        eventually().until(() -> sick.toldNothing.get() >= 3);
        assertThat(sick.pause(1)).isGreaterThan(Duration.ofMillis(1500));
    }

    @Test
    void ifAllAreRefusedTheLookHasFailedAndNobodyIsTold() throws SQLException {
        database.execute("alter function %s.outbox_look rename to outbox_look_gone");
        try {
            sick("raise insufficient_privilege;");
            start();
            eventually().until(() -> connections.get() >= 6);
            assertThat(well.toldNothing.get() + sick.toldNothing.get()).isZero();
        } finally {
            database.execute("alter function %s.outbox_look_gone rename to outbox_look");
        }
        sick("");
        eventually().until(() -> well.told.get() > 0 && sick.told.get() > 0);
    }

    @Test
    void whoGetsNoConnectionAsksNobodyAlone() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            Database nowhere = new Database(elsewhere(), new PostgresDialect(), database.schema(), "nowhere");
            Lookout blind = new Lookout(nowhere, workers, Duration.ofSeconds(30), true);
            blind.add(well);
            blind.start();
            eventually().until(() -> logs.count(Level.WARN, "[nowhere] looking for work failed") == 1);
            blind.askToStop();
            assertThat(well.toldNothing).hasValue(0);
        }
    }

    private static DataSource elsewhere() {
        var source = new PGSimpleDataSource();
        source.setUrl(database.server().jdbcUrl("no_such_database"));
        source.setUser(database.server().user());
        source.setPassword(database.server().password());
        return source;
    }
}
