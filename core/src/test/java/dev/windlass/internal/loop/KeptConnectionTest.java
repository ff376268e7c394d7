package dev.windlass.internal.loop;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.SilentLogins;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
    private final Database background = new Database(
                    database.unpooled(), new PostgresDialect(), database.schema(), "kept")
            .cancelling(workers::later);
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
    void aLoginThatNobodyAnswersIsGivenUpAndAskedForAgain() throws Exception {
        SilentLogins logins = new SilentLogins(database.unpooled());
        Database silent = new Database(logins.source(), new PostgresDialect(), database.schema(), "silent");
        KeptConnection kept = new KeptConnection(silent.givingUpLogins(Duration.ofMillis(50)), workers);
        kept.use(this, PATIENCE);
        logins.fallSilent();
        assertThatThrownBy(() -> kept.await(PATIENCE)).hasMessageContaining("has not answered a login");

        logins.answerNewOnes().countDown();

        eventually().ignoreExceptionsInstanceOf(SQLException.class).until(() -> {
            kept.await(PATIENCE);
            return kept.isThere();
        });
        eventually().until(() -> logins.late().get(0).isClosed());
        kept.stop();
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

    private static final Duration SHORT = Duration.ofSeconds(1);

    private static boolean readsLocked(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            return statement.execute("select from \"" + database.schema() + "\".outbox");
        }
    }

    private static void assertIsGivenUpWhileLocked(ThrowingCallable call, String state) throws SQLException {
        try (Connection owner = database.owner().getConnection();
                Logs logs = Logs.collect(Level.WARN)) {
            owner.setAutoCommit(false);
            database.update(owner, "lock table %s.outbox in access exclusive mode");
            assertThatThrownBy(call)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).matches(state));
            eventually()
                    .until(() -> database.value(
                                    Long.class,
                                    "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                            + " and query like '%" + database.schema() + "%'")
                            == 0);
            assertThat(logs.at(Level.WARN)).noneMatch(text -> text.contains("is away"));
        }
    }

    @Test
    void aCallThatWaitsForALockIsGivenUpAtTheServerToo() throws SQLException {
        assertIsGivenUpWhileLocked(
                () -> background.answeringWithin(SHORT).once(KeptConnectionTest::readsLocked), "57014");
    }

    @Test
    void soIsACallOnTheConnectionThatIsKeptWhichIsReplacedThen() throws SQLException {
        node.kept().use(this, SHORT);
        int first = backend();
        assertIsGivenUpWhileLocked(() -> node.kept().call(SHORT, KeptConnectionTest::readsLocked), "57014");
        assertThat(backend()).isNotEqualTo(first);
    }

    /** Its connection may end before the answer arrives. */
    @Test
    void soIsACallThatIsBrokenOff() throws SQLException {
        Database answering = background.answeringWithin(PATIENCE);
        assertIsGivenUpWhileLocked(
                () -> {
                    var unused = workers.later(Duration.ofMillis(300), answering::end);
                    answering.once(KeptConnectionTest::readsLocked);
                },
                "57014|08...");
    }

    @Test
    void whoLosesTheConnectionToOthersBorrowsOne() throws Exception {
        SlowSource slow = new SlowSource();
        Database other = new Database(slow, new PostgresDialect(), database.schema(), "slow");
        Node keeping = new Node(other, other, Node.Shared.none(workers), true, Duration.ofSeconds(30));
        try (Logs logs = Logs.collect(Level.WARN)) {
            keeping.signals().subscribe("kept_a", signal -> {});
            CompletableFuture<Boolean> call = CompletableFuture.supplyAsync(() -> called(keeping));
            slow.asked.await();
            keeping.keep(false);
            slow.free.countDown();
            assertThat(call.get()).isTrue();
            assertThat(logs.lines()).isEmpty();
        } finally {
            keeping.end(Deadline.in(System::nanoTime, Duration.ofSeconds(10)));
        }
    }

    private static boolean called(Node node) {
        try {
            node.open(PATIENCE);
            return node.call(PATIENCE, connection -> connection.isValid(1));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
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
