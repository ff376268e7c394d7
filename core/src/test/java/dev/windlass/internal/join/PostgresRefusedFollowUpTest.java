package dev.windlass.internal.join;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.join.Joins;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A trigger of the user's refuses what follows a join: the steps are not to blame. */
final class PostgresRefusedFollowUpTest {
    private static final FollowUp FOLLOW_UP =
            FollowUp.completed("done", "secret").withFailed("undone", "");

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Outbox outbox;
    private Joins joins;

    @BeforeEach
    void refuse() throws SQLException {
        refuse("raise exception 'refused: %', new.payload;");
        Windlass windlass = database.passive();
        outbox = windlass.outbox();
        joins = windlass.joins();
    }

    private static void refuse(String how) throws SQLException {
        database.execute("""
                create or replace function %s.refuse() returns trigger language plpgsql as $$ begin ${how} return new; end $$;
                create or replace trigger refuse before insert on %s.outbox for each row
                    when (new.topic = 'done') execute function %s.refuse()
                """.replace("${how}", how));
    }

    @AfterEach
    void refuseNothing() throws SQLException {
        database.execute("drop function if exists %s.refuse cascade");
    }

    private JoinIdentifier fanOut(int steps) {
        return outbox.fanOut(JoinEntry.of(steps).withFollowUp(FOLLOW_UP), JoinsConformance.steps(steps));
    }

    private Join stored(JoinIdentifier join) {
        return joins.find(join).orElseThrow();
    }

    private List<OutboxWorkItemIdentifier> claim(OwnerToken owner) {
        return outbox.claim(owner, Duration.ofMinutes(5), 100).stream()
                .map(OutboxMessage::id)
                .toList();
    }

    private static int endRefused() throws SQLException {
        JoinStore store = new JoinStore(database.routines(), "outbox");
        return database.routines().once(connection -> store.endRefused(connection, 10));
    }

    private static long followUps() {
        return database.count("topic in ('done', 'undone')");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "raise exception 'refused: %', new.payload;",
                "assert false, new.payload;",
                "new.payload := null;",
                "perform 1 / 0;"
            })
    void theStepsAreDoneAndTheJoinEndsWhenItIsLetThrough(String how) throws SQLException {
        refuse(how);
        JoinIdentifier join = fanOut(3);
        OwnerToken owner = OwnerToken.fresh();

        assertThat(outbox.ack(owner, claim(owner))).isEqualTo(3);

        assertThat(database.count("status = 2")).isEqualTo(3);
        assertThat(stored(join).status()).isEqualTo(JoinStatus.PENDING);
        assertThat(stored(join).openSteps()).isZero();
        assertThat(stored(join).lastError())
                .hasValueSatisfying(error -> assertThat(error)
                        .startsWith("what follows is refused (SQLSTATE ")
                        .doesNotContain("secret"));
        assertThatThrownBy(PostgresRefusedFollowUpTest::endRefused).isInstanceOf(SQLException.class);
        assertThat(followUps()).isZero();

        refuseNothing();
        assertThat(endRefused()).isEqualTo(1);

        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(stored(join).lastError()).isEmpty();
        assertThat(database.count("topic = 'done' and payload = 'secret'")).isEqualTo(1);
        assertThat(endRefused()).isZero();
        assertThat(followUps()).isEqualTo(1);
    }

    @Test
    void otherJoinsOfTheSameBatchEnd() {
        fanOut(1);
        JoinIdentifier other =
                outbox.fanOut(JoinEntry.of(1).withFollowUp(FollowUp.completed("free", "")), JoinsConformance.steps(1));
        OwnerToken owner = OwnerToken.fresh();

        assertThat(outbox.ack(owner, claim(owner))).isEqualTo(2);

        assertThat(stored(other).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(database.count("topic = 'free'")).isEqualTo(1);
    }

    @Test
    void aStepThatIsRequeuedMeanwhileIsOpenAgain() throws SQLException {
        JoinIdentifier join = outbox.fanOut(
                JoinEntry.of(1).withFailedByAny(false).withFollowUp(FOLLOW_UP), JoinsConformance.steps(1));
        OwnerToken owner = OwnerToken.fresh();
        outbox.fail(owner, claim(owner), "no");
        assertThat(stored(join).lastError()).isPresent();

        outbox.operator("anna").requeue(MessageFilter.all(), Attempts.RESET);
        refuseNothing();

        assertThat(stored(join).lastError()).isEmpty();
        assertThat(stored(join).openSteps()).isEqualTo(1);
        assertThat(endRefused()).isZero();
        OwnerToken next = OwnerToken.fresh();
        outbox.ack(next, claim(next));
        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(followUps()).isEqualTo(1);
    }

    @Test
    void itCanBeCancelledMeanwhile() throws SQLException {
        JoinIdentifier join = fanOut(1);
        OwnerToken owner = OwnerToken.fresh();
        outbox.ack(owner, claim(owner));

        assertThat(joins.cancel(join)).isTrue();
        refuseNothing();

        assertThat(endRefused()).isZero();
        assertThat(stored(join).status()).isEqualTo(JoinStatus.CANCELLED);
        assertThat(followUps()).isZero();
    }

    @Test
    void theLastStepMayBeReported() throws SQLException {
        JoinIdentifier join = joins.start(JoinEntry.of(1).withFollowUp(FOLLOW_UP));
        UUID step = UUID.randomUUID();

        assertThat(joins.reportCompleted(join, step)).isTrue();
        assertThat(joins.reportCompleted(join, step)).isTrue();
        assertThat(stored(join).lastError()).isPresent();
        refuseNothing();

        assertThat(endRefused()).isEqualTo(1);
        assertThat(followUps()).isEqualTo(1);
    }

    /** Whoever says what follows is there to hear that it cannot. */
    @Test
    void afterTheEndItIsRefusedToWhoeverSaysIt() {
        JoinIdentifier join = joins.start(JoinEntry.of(1));
        joins.reportCompleted(join, UUID.randomUUID());

        assertThatThrownBy(() -> joins.follow(join, FOLLOW_UP))
                .isInstanceOf(WindlassException.class)
                .hasStackTraceContaining("P0001");

        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(stored(join).followUpId()).isEmpty();
    }

    @Test
    void anOuterJoinWaitsForIt() throws SQLException {
        JoinIdentifier outer = joins.start(JoinEntry.of(1));
        JoinIdentifier inner =
                outbox.fanOut(JoinEntry.of(1).withFollowUp(FOLLOW_UP.withStepOf(outer)), JoinsConformance.steps(1));
        OwnerToken owner = OwnerToken.fresh();
        outbox.ack(owner, claim(owner));
        assertThat(stored(inner).lastError()).isPresent();
        assertThat(stored(outer).openSteps()).isEqualTo(1);

        refuseNothing();
        endRefused();
        OwnerToken next = OwnerToken.fresh();
        outbox.ack(next, claim(next));

        assertThat(stored(outer).status()).isEqualTo(JoinStatus.COMPLETED);
    }

    @Test
    void aNodeEndsItAtItsStart() throws SQLException {
        JoinIdentifier join = fanOut(2);
        OwnerToken owner = OwnerToken.fresh();
        outbox.ack(owner, claim(owner));
        refuseNothing();

        database.start(database.windlass());

        eventually().until(() -> stored(join).status() == JoinStatus.COMPLETED);
    }
}
