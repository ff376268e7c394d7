package dev.windlass.internal.loop;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.Deadline;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** One connection, on which signals arrive and on which others make calls. */
final class KeptConnectionTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Workers workers = new Workers();
    private final Database background =
            new Database(database.unpooled(), new PostgresDialect(), database.schema(), "kept");
    private final Node node = new Node(background, background, Node.Shared.none(workers), true, Duration.ofSeconds(30));
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    @AfterEach
    void end() {
        node.end(Deadline.in(System::nanoTime, Duration.ofSeconds(10)));
        workers.close();
    }

    private int backend() throws SQLException {
        node.kept().await(PATIENCE);
        return node.kept().call(PATIENCE, connection -> {
            try (var statement = connection.createStatement();
                    var rows = statement.executeQuery("select pg_backend_pid()")) {
                rows.next();
                return rows.getInt(1);
            }
        });
    }

    private void say(String channel, String text) {
        database.value(String.class, "select pg_notify(?, ?)::text", channel, text);
    }

    private void listen(String channel) {
        node.signals().subscribe(channel, signal -> heard.add(channel + ": " + signal.text()));
        eventually().until(() -> heard.contains(channel + ": missed"));
    }

    @Test
    void signalsArriveWhileOthersMakeCallsOnTheSameConnection() throws SQLException {
        listen("kept_a");
        int backend = backend();
        for (int i = 0; i < 20; i++) {
            assertThat(backend()).isEqualTo(backend);
            String text = "ready " + i;
            say("kept_a", text);
            eventually().until(() -> heard.contains("kept_a: " + text));
        }
    }

    @Test
    void eachHearsItsOwnChannelAlsoOneThatCameLater() {
        listen("kept_a");
        listen("kept_b");
        heard.clear();

        say("kept_a", "topics");
        say("kept_b", "cancel");

        eventually().until(() -> heard.size() == 2);
        assertThat(heard).containsExactlyInAnyOrder("kept_a: topics", "kept_b: cancel");
    }

    @Test
    void afterABreakThereIsAnotherConnectionOnWhichSignalsArriveAgain() throws SQLException {
        listen("kept_a");
        int first = backend();
        heard.clear();

        database.value(Boolean.class, "select pg_terminate_backend(?)", first);

        // when it breaks, since none may come, and when there is another, since some may have been missed
        eventually().until(() -> Collections.frequency(List.copyOf(heard), "kept_a: missed") == 2);
        say("kept_a", "ready again");
        eventually().until(() -> heard.contains("kept_a: ready again"));
        assertThat(backend()).isNotEqualTo(first);
    }

    @Test
    void aCallThatFailsLeavesTheConnectionToTheOthersOrGetsThemANewOne() throws SQLException {
        listen("kept_a");

        assertThatThrownBy(() -> node.kept().call(PATIENCE, connection -> {
                    try (var statement = connection.createStatement()) {
                        return statement.execute("select 1 / 0");
                    }
                }))
                .isInstanceOf(SQLException.class);

        backend();
        heard.clear();
        eventually().until(() -> {
            say("kept_a", "ready x");
            return heard.contains("kept_a: ready x");
        });
    }

    @Test
    void itIsGivenBackWhenNobodyUsesItAnyMore() throws SQLException {
        Object first = new Object();
        Object second = new Object();
        node.kept().use(first, PATIENCE);
        node.kept().use(second, PATIENCE);
        int backend = backend();

        node.kept().leave(first);
        assertThat(backend()).isEqualTo(backend);
        node.kept().leave(second);

        eventually()
                .until(() -> database.value(Long.class, "select count(*) from pg_stat_activity where pid = ?", backend)
                        == 0);
    }

    /** Gives a connection when it is told to. */
    @SuppressWarnings("serial")
    private static final class SlowSource extends PGSimpleDataSource {
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch free = new CountDownLatch(1);
        volatile @Nullable Connection opened;

        @Override
        public Connection getConnection() throws SQLException {
            try {
                asked.countDown();
                free.await();
                Connection connection = database.unpooled().getConnection();
                opened = connection;
                return connection;
            } catch (InterruptedException e) {
                throw new SQLException(e);
            }
        }

        boolean isOver() throws SQLException {
            Connection last = opened;
            return last != null && last.isClosed();
        }
    }

    @Test
    void oneThatIsBeingOpenedWhenTheNodeMayKeepNoneAnyMoreIsGivenBack() throws Exception {
        SlowSource slow = new SlowSource();
        Database other = new Database(slow, new PostgresDialect(), database.schema(), "slow");
        Node keeping = new Node(other, other, Node.Shared.none(workers), true, Duration.ofSeconds(30));
        keeping.use(this, PATIENCE);
        keeping.signals().subscribe("kept_a", signal -> {});
        slow.asked.await();

        keeping.keep(false);
        slow.free.countDown();

        eventually().until(slow::isOver);
        keeping.end(Deadline.in(System::nanoTime, Duration.ofSeconds(10)));
    }

    @Test
    void oneThatWasGivenBackIsNotTakenForADatabaseThatIsAway() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            assertThatThrownBy(() -> node.kept().call(PATIENCE, connection -> true))
                    .hasMessageContaining("there is no kept connection");
            assertThat(logs.lines()).isEmpty();
        }
    }

    @Test
    void textsThatNobodyKnowsAreNoSignalsOfSomethingElse() {
        assertThat(List.of("ready a b", "ready", "topics", "cancel").stream().map(Signal::of))
                .containsExactly(
                        new Signal(Signal.Kind.READY, "a b"),
                        Signal.READY,
                        new Signal(Signal.Kind.TOPICS, ""),
                        new Signal(Signal.Kind.CANCEL, ""));
        assertThat(Signal.of("readyx").kind()).isEqualTo(Signal.Kind.UNKNOWN);
        assertThat(Signal.of("").kind()).isEqualTo(Signal.Kind.UNKNOWN);
        assertThat(Signal.of("ready a b").text()).isEqualTo("ready a b");
    }
}
