package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxKey;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is written in whose transaction. Nobody loses atomicity without being told. */
final class TransactionsTest {
    private static final OutboxEntry ENTRY = OutboxEntry.of("a", "x");
    private static final TimerEntry TIMER = TimerEntry.of("a", "x", Duration.ofHours(1));
    private static final InboxEntry ARRIVAL = InboxEntry.of("source", "1", "a", "x");
    private static final Job JOB = Job.every("job", Duration.ofHours(1)).withTopic("a");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Windlass windlass = database.passive();

    private static final class Undo extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private static long rows() {
        return database.value(
                Long.class,
                "select (select count(*) from %s.outbox) + (select count(*) from %s.outbox_timer)"
                        + " + (select count(*) from %s.inbox) + (select count(*) from %s.outbox_job)");
    }

    static Stream<Named<Consumer<Windlass>>> writes() {
        return Stream.of(
                Named.of("enqueue", node -> node.outbox().enqueue(ENTRY)),
                Named.of("enqueue many", node -> node.outbox().enqueueAll(List.of(ENTRY, ENTRY))),
                Named.of("schedule", node -> node.timers().schedule(TIMER)),
                Named.of("schedule many", node -> node.timers().scheduleAll(List.of(TIMER, TIMER))),
                Named.of("store an arrival", node -> node.inbox().enqueue(ARRIVAL)),
                Named.of("save a job", node -> node.jobs().save(JOB)));
    }

    @ParameterizedTest
    @MethodSource("writes")
    void whatIsWrittenInsideOfATransactionIsAPartOfItAlsoWithoutTheConnection(Consumer<Windlass> write) {
        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    write.accept(windlass);
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);
        assertThat(rows()).isZero();

        windlass.inTransaction(connection -> {
            write.accept(windlass);
            assertThat(rows()).as("seen by others").isZero();
            return true;
        });
        assertThat(rows()).isPositive();
    }

    @Test
    void changesAndReadsInsideOfATransactionArePartsOfItToo() {
        OutboxMessageIdentifier id =
                windlass.outbox().enqueue(ENTRY.withDueTime(Instant.now().plusSeconds(3600)));
        TimerIdentifier timer = windlass.timers().schedule(TIMER);
        windlass.jobs().save(JOB);

        assertThatThrownBy(() -> windlass.inTransaction(connection -> {
                    assertThat(windlass.outbox().cancel(connection, id)).isTrue();
                    assertThat(windlass.outbox().cancel(id))
                            .as("seen as cancelled")
                            .isFalse();
                    assertThat(windlass.timers().reschedule(timer, Duration.ofDays(2)))
                            .isTrue();
                    assertThat(windlass.timers().cancel(timer)).isTrue();
                    assertThat(windlass.timers().find(timer)).isEmpty();
                    windlass.jobs().trigger("job");
                    assertThat(windlass.jobs().runs("job", 10)).hasSize(1);
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);

        assertThat(windlass.timers().find(timer)).isPresent();
        assertThat(windlass.jobs().runs("job", 10)).isEmpty();
        assertThat(windlass.outbox().cancel(id)).isTrue();
    }

    @Test
    void aTransactionInsideOfAnotherIsAPartOfIt() {
        assertThatThrownBy(() -> windlass.inTransaction(outer -> {
                    windlass.inTransaction(inner -> {
                        assertThat(inner).isSameAs(outer);
                        return windlass.outbox().enqueue(ENTRY);
                    });
                    throw new Undo();
                }))
                .isInstanceOf(Undo.class);

        assertThat(rows()).isZero();
    }

    @Test
    void aPartThatThrowsIsUndoneAlone() {
        windlass.inTransaction(outer -> {
            windlass.outbox().enqueue(ENTRY);
            assertThatThrownBy(() -> windlass.inTransaction(inner -> {
                        windlass.outbox().enqueueAll(List.of(ENTRY, ENTRY));
                        throw new Undo();
                    }))
                    .isInstanceOf(Undo.class);
            return true;
        });

        assertThat(rows()).isEqualTo(1);
        windlass.outbox().enqueue(ENTRY);
        assertThat(rows()).as("the thread is in no transaction any more").isEqualTo(2);
    }

    /** The transaction cannot go on after an error, so to say nothing would lose the part silently. */
    @Test
    void aPartThatKeepsAnErrorToItselfIsUndoneAndSaysSo() {
        windlass.inTransaction(outer -> {
            windlass.outbox().enqueue(ENTRY);
            assertThatThrownBy(() -> windlass.inTransaction(inner -> {
                        windlass.outbox().enqueue(ENTRY);
                        assertThatThrownBy(() ->
                                        inner.prepareStatement("select 1 / 0").execute())
                                .isInstanceOf(SQLException.class);
                        return true;
                    }))
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("could not end a part of a transaction");
            return true;
        });

        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void whatTheWorkThrowsIsThrownAndNothingElseThatIsChecked() {
        int one = windlass.inTransaction(connection -> 1); // needs no throws clause
        assertThat(one).isEqualTo(1);
        assertThatThrownBy(this::throwing).isInstanceOf(IOException.class).hasMessage("mine");
    }

    private int throwing() throws IOException {
        return windlass.inTransaction(connection -> {
            if (connection != null) {
                throw new IOException("mine");
            }
            return 1;
        });
    }

    static Stream<Named<Write>> writesWithConnection() {
        TimerIdentifier timer = new TimerIdentifier(UUID.randomUUID());
        OutboxMessageIdentifier message = new OutboxMessageIdentifier(UUID.randomUUID());
        return Stream.of(
                Named.of("enqueue", (node, own) -> node.outbox().enqueue(own, ENTRY)),
                Named.of("enqueue many", (node, own) -> node.outbox().enqueueAll(own, List.of(ENTRY))),
                Named.of("cancel", (node, own) -> node.outbox().cancel(own, message)),
                Named.of("move", (node, own) -> node.outbox().reschedule(own, message, Instant.now())),
                Named.of("schedule", (node, own) -> node.timers().schedule(own, TIMER)),
                Named.of("schedule many", (node, own) -> node.timers().scheduleAll(own, List.of(TIMER))),
                Named.of("cancel a timer", (node, own) -> node.timers().cancel(own, timer)),
                Named.of("cancel a key", (node, own) -> node.timers().cancel(own, "a", "key")),
                Named.of("move a timer", (node, own) -> node.timers().reschedule(own, timer, Duration.ZERO)),
                Named.of("store an arrival", (node, own) -> node.inbox().enqueue(own, ARRIVAL)),
                Named.of("ack an arrival", (node, own) -> node.inbox().ack(own, OwnerToken.fresh(), List.of())),
                Named.of("save a job", (node, own) -> node.jobs().save(own, JOB)),
                Named.of("trigger a job", (node, own) -> node.jobs().trigger(own, "job")),
                Named.of("delete a job", (node, own) -> node.jobs().delete(own, "job")));
    }

    private interface Write {
        void run(Windlass node, Connection connection) throws SQLException;
    }

    @ParameterizedTest
    @MethodSource("writesWithConnection")
    void aConnectionThatCommitsByItselfIsRefusedAndToldWhatToDo(Write write) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> write.run(windlass, connection))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("expected a connection in a transaction, got one with auto-commit on")
                    .hasMessageContaining("call setAutoCommit(false) before your change");
        }
        assertThat(rows()).isZero();
    }

    @Test
    void whoMeansItCanAllowSuchConnections() throws SQLException {
        Windlass node = database.start(database.windlass()
                .options(database.options().withBackgroundWorkers(false).withAutoCommitAllowed(true)));
        try (Connection connection = database.dataSource().getConnection()) {
            node.outbox().enqueue(connection, ENTRY);
        }
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void theInboxDoesNotEndAMessageByItselfInsideOfATransaction() {
        windlass.inTransaction(connection -> {
            assertThatThrownBy(() -> windlass.inbox().process("source", "1", own -> {}))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(
                            "expected process of message " + new InboxKey("source", "1") + " outside of a transaction");
            return true;
        });
        assertThat(rows()).isZero();
    }
}
