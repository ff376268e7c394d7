package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.inbox.SeenMessage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What it costs to ask, and what is told to who has to ask twice. */
final class LostAnswersTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final ProbedDataSource probe = new ProbedDataSource(database.dataSource());
    private Inbox inbox;

    @BeforeEach
    void start() {
        inbox = database.start(Windlass.on(probe.source())
                        .options(database.options().withBackgroundWorkers(false))
                        .inbox(InboxOptions.defaults().withMaxAttempts(2)))
                .inbox();
        probe.statements().clear();
    }

    private InboxAttempt begun(String id) {
        return ((Begin.Proceed) inbox.begin("orders", id)).attempt();
    }

    @Test
    void anUncontendedBeginAndAMarkCostOneStatementEach() {
        InboxAttempt attempt = begun("1");
        assertThat(probe.statements()).hasSize(1);
        inbox.markProcessing(attempt);
        inbox.markProcessed(attempt);
        assertThat(probe.statements()).hasSize(3);
        inbox.begin("orders", "1");
        assertThat(probe.statements()).hasSize(4);
        assertThat(inbox.alreadyProcessed("orders", "2")).isFalse();
        inbox.markProcessed("orders", "2");
        assertThat(probe.statements()).hasSize(6);
    }

    @Test
    void processCostsTwoStatementsBesideItsWork() throws Exception {
        inbox.process("orders", "1", connection -> {});
        assertThat(probe.statements()).hasSize(2);
    }

    @Test
    void leasesAreRenewedOnlyWhileTheWorkGoesOn() throws Exception {
        Inbox brief = database.start(Windlass.on(probe.source())
                        .options(database.options().withBackgroundWorkers(false))
                        .inbox(InboxOptions.defaults().withGuardLease(Duration.ofMillis(300))))
                .inbox();
        brief.process("orders", "1", connection -> eventually().until(() -> probe.saw("\"inbox_renew\"")));
        Thread.sleep(200); // one that had been sent
        probe.statements().clear();
        Thread.sleep(500);
        assertThat(probe.statements()).isEmpty();
    }

    @Test
    void aBeginWhoseAnswerIsLostIsAnsweredAgain() {
        probe.loseAnswers(2);
        InboxAttempt attempt = begun("1");
        assertThat(probe.answersToLose()).isZero();
        assertThat(attempt.number()).isEqualTo(1);
        inbox.markProcessed(attempt);
    }

    @Test
    void aMarkWhoseAnswerIsLostHolds() {
        InboxAttempt done = begun("1");
        probe.loseAnswers(1);
        inbox.markProcessed(done);
        InboxAttempt dead = begun("2");
        probe.loseAnswers(1);
        inbox.markDead(dead, "no");
        assertThat(inbox.find("orders", "1")).map(SeenMessage::status).contains(WorkStatus.DONE);
        assertThat(inbox.find("orders", "2")).map(SeenMessage::status).contains(WorkStatus.FAILED);
    }

    @Test
    void anAbandonWhoseAnswerIsLostCountsOnce() {
        InboxAttempt first = begun("1");
        probe.loseAnswers(1);
        assertThat(inbox.abandon(first, "no", Duration.ZERO)).isTrue();
        InboxAttempt last = begun("1");
        assertThat(last.number()).isEqualTo(2);
        probe.loseAnswers(1);
        assertThat(inbox.abandon(last, "no", Duration.ZERO)).isFalse();
    }

    @Test
    void anEnqueueWhoseAnswerIsLostIsStillNew() {
        probe.loseAnswers(1);
        assertThat(inbox.enqueue(InboxEntry.of("orders", "1", "topic", ""))).isEqualTo(new Enqueued(true, false));
        assertThat(inbox.enqueue(InboxEntry.of("orders", "1", "topic", ""))).isEqualTo(new Enqueued(false, false));
    }

    @Test
    void anAckWhoseAnswerIsLostCounts() {
        inbox.enqueue(InboxEntry.of("orders", "1", "topic", ""));
        OwnerToken owner = OwnerToken.fresh();
        List<InboxWorkItemIdentifier> ids =
                List.of(inbox.claim(owner, Duration.ofMinutes(1), 1).get(0).id());
        probe.loseAnswers(1);
        assertThat(inbox.ack(owner, ids)).isEqualTo(1);
    }
}
