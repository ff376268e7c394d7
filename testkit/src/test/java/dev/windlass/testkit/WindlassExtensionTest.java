package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** Runs small test classes, and looks at what they saw and what they leave behind. */
final class WindlassExtensionTest {
    private static final DataSource OWN = EmbeddedPostgres.shared().dataSource();
    private static final List<String> schemas = new CopyOnWriteArrayList<>();
    private static final List<Windlass> nodes = new CopyOnWriteArrayList<>();

    @BeforeEach
    void forget() {
        schemas.clear();
        nodes.clear();
    }

    static final class WithStaticField {
        @RegisterExtension
        static final WindlassExtension database = WindlassExtension.create();

        @RepeatedTest(2)
        void startsEmpty() {
            writeOneInto(database, "a");
        }

        @Nested
        final class Inner {
            @Test
            void startsEmpty() {
                writeOneInto(database, "a");
            }
        }
    }

    @Test
    void aStaticFieldGivesOneSchemaToAClassAndItsNestedClasses() {
        run(WithStaticField.class, 3);
        assertThat(schemas).hasSize(3);
        assertThat(schemas.stream().distinct()).hasSize(1);
    }

    @Test
    void eachRunOfAClassGetsAFreshSchemaWhichIsDroppedAfterwards() throws SQLException {
        run(WithStaticField.class, 3);
        run(WithStaticField.class, 3);
        assertThat(schemas.stream().distinct()).hasSize(2);
        assertThat(schemaExists(schemas.get(0))).isFalse();
        assertThat(schemaExists(schemas.get(5))).isFalse();
    }

    @Test
    void nodesAreClosedAfterTheTestThatStartedThem() {
        run(WithStaticField.class, 3);
        assertThat(nodes).hasSize(3).noneMatch(Windlass::isRunning);
    }

    static final class WithInstanceField {
        @RegisterExtension
        final WindlassExtension database = WindlassExtension.create();

        @RepeatedTest(2)
        void startsEmpty() {
            writeOneInto(database, "a");
        }

        @Test
        void startsEmptyToo() {
            writeOneInto(database, "a");
        }
    }

    @Test
    void anInstanceFieldGivesOneSchemaToTheClassToo() throws SQLException {
        run(WithInstanceField.class, 3);
        assertThat(schemas.stream().distinct()).hasSize(1);
        assertThat(schemaExists(schemas.get(0))).isFalse();
        assertThat(nodes).hasSize(3).noneMatch(Windlass::isRunning);
    }

    static final class WithNodeOfTheClass {
        @RegisterExtension
        static final WindlassExtension database = WindlassExtension.create();

        private static @Nullable Windlass node;

        @BeforeAll
        static void start() {
            node = database.start(database.windlass().outboxHandler("a", message -> {}));
            nodes.add(node);
        }

        @RepeatedTest(2)
        void isServedByTheSameNode() {
            assertThat(node).matches(Windlass::isRunning);
            writeOneInto(database, "a");
            database.drain();
            assertThat(database.messages("a")).hasSize(1).allMatch(OutboxMessage::isProcessed);
        }
    }

    @Test
    void aNodeStartedBeforeAllTestsLivesUntilTheClassEnds() {
        run(WithNodeOfTheClass.class, 2);
        assertThat(nodes.get(0).isRunning()).isFalse();
    }

    static final class WithOwnDatabase {
        @RegisterExtension
        static final WindlassExtension database =
                WindlassExtension.on(OWN).outbox(OutboxOptions.defaults().withTableName("my \"box\""));

        @RepeatedTest(2)
        void startsEmpty() {
            assertThat(database.dataSource()).isSameAs(OWN);
            writeOneInto(database, "a");
        }
    }

    @Test
    void aDatabaseAndATableOfTheUsersOwnAreUsed() throws SQLException {
        run(WithOwnDatabase.class, 2);
        assertThat(schemaExists(schemas.get(0))).isFalse();
    }

    static final class WithForgottenTransaction {
        @RegisterExtension
        static final WindlassExtension database = WindlassExtension.create();

        static @Nullable Connection forgotten;

        @Test
        void forgetsToCommit() throws SQLException {
            forgotten = OWN.getConnection();
            forgotten.setAutoCommit(false);
            Windlass windlass = database.start(database.windlass());
            windlass.outbox().enqueue(forgotten, OutboxEntry.of("a", ""));
        }

        @AfterAll
        static void remember() throws SQLException {
            if (forgotten != null) {
                forgotten.close();
            }
        }
    }

    @Test
    void aTransactionThatATestForgotIsAnErrorInsteadOfAHang() {
        var events = EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(WithForgottenTransaction.class))
                .execute()
                .testEvents();
        assertThat(events.failed().stream().toList())
                .singleElement()
                .satisfies(event ->
                        assertThat(event.toString()).contains("a transaction of the test seems to be open still"));
    }

    static final class WithOrder {
        @RegisterExtension
        static final WindlassExtension database = WindlassExtension.create();

        @Test
        void listsMessages() {
            Windlass windlass = database.start(database.windlass());
            for (int i = 0; i < 20; i++) {
                windlass.outbox().enqueue(OutboxEntry.of(i % 2 == 0 ? "even" : "odd", "" + i));
            }
            assertThat(database.messages("odd").stream().map(OutboxMessage::payload))
                    .containsExactly("1", "3", "5", "7", "9", "11", "13", "15", "17", "19");
            assertThat(database.messages("none")).isEmpty();
        }
    }

    @Test
    void messagesAreListedByTopicInTheOrderTheyWereWritten() {
        run(WithOrder.class, 1);
    }

    @Test
    void useOutsideOfATestSaysWhatIsMissing() {
        assertThatIllegalStateException()
                .isThrownBy(() -> WindlassExtension.create().schema())
                .withMessageContaining("@RegisterExtension");
    }

    private static void writeOneInto(WindlassExtension database, String topic) {
        schemas.add(database.schema());
        assertThat(database.messages(topic)).isEmpty();
        Windlass windlass = database.start(database.windlass());
        nodes.add(windlass);
        windlass.outbox().enqueue(OutboxEntry.of(topic, ""));
        assertThat(database.messages(topic)).hasSize(1);
    }

    private static void run(Class<?> test, int count) {
        Events events = EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(test))
                .execute()
                .testEvents();
        assertThat(events.failed().stream()
                        .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                        .flatMap(result -> result.getThrowable().stream()))
                .isEmpty();
        events.assertStatistics(stats -> stats.started(count).succeeded(count));
    }

    private static boolean schemaExists(String schema) throws SQLException {
        try (Connection connection = OWN.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("select exists (select from pg_namespace where nspname = ?)")) {
            statement.setString(1, schema);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
