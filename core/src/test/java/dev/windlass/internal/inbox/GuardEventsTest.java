package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.NotYet;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.metrics.WindlassMetrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is told of messages that are processed without the queue. */
@Timeout(60)
final class GuardEventsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<WindlassEvent> heard = new ConcurrentLinkedQueue<>();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private Windlass windlass;
    private Inbox inbox;

    @BeforeEach
    void start() {
        windlass = database.start(database.windlass()
                .name("shop")
                .inbox(InboxOptions.defaults().withMaxAttempts(2))
                .listener(new WindlassMetrics(registry))
                .listener(event -> {
                    if (event instanceof WindlassEvent.OfMessage) {
                        heard.add(event);
                    }
                }));
        inbox = windlass.inbox();
    }

    /** All that is told: the listener is at its end when the node is. */
    private List<String> told() {
        windlass.close();
        List<String> told = new ArrayList<>();
        for (WindlassEvent event : heard) {
            if (event instanceof WindlassEvent.Handled it) {
                told.add("handled " + it.topic() + " " + it.attempt() + " " + it.ending());
            } else if (event instanceof WindlassEvent.Retried it) {
                told.add("retried " + it.topic() + " " + it.attempt() + " " + it.delay() + " " + it.error());
            } else if (event instanceof WindlassEvent.DeadLettered it) {
                told.add("dead " + it.topic() + " " + it.attempt() + " " + it.error());
            }
        }
        return told;
    }

    private InboxAttempt begin(String id) {
        return ((Begin.Proceed) inbox.begin("bank", id)).attempt();
    }

    @Test
    void processTellsHowEachAttemptEndedAndWhatBecameOfItsMessage() throws Exception {
        inbox.process("bank", "1", connection -> {});
        inbox.process("bank", "1", connection -> {});
        assertThatThrownBy(() -> inbox.process("bank", "2", connection -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThatThrownBy(() -> inbox.process("bank", "2", connection -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThatThrownBy(() -> inbox.process("bank", "3", connection -> {
                    throw new PermanentFailure("never");
                }))
                .hasMessage("never");
        String no = "java.lang.IllegalStateException: no";
        assertThat(told())
                .containsExactly(
                        "handled bank 1 done",
                        "handled bank 1 retry",
                        "retried bank 1 PT0S " + no,
                        "handled bank 2 failed",
                        "dead bank 2 " + no,
                        "handled bank 1 failed",
                        "dead bank 1 dev.windlass.base.PermanentFailure: never");
        assertThat(heard).allMatch(event -> ((WindlassEvent.OfMessage) event).queue() == QueueKind.INBOX);
        assertThat(heard.stream()
                        .map(event -> ((WindlassEvent.OfMessage) event).id())
                        .distinct())
                .hasSize(3);
    }

    @Test
    void deadLettersOfTheGuardAreCounted() {
        inbox.markDead(begin("1"), "unreadable");
        eventually()
                .until(() -> registry.find("windlass.dead.letters")
                                        .tags("queue", "inbox", "topic", "bank")
                                        .counter()
                                != null
                        && registry.get("windlass.dead.letters").counter().count() == 1);
    }

    @Test
    void marksTellTheEndOfAnAttemptOnce() throws Exception {
        InboxAttempt done = begin("1");
        inbox.markProcessed(done);
        inbox.markProcessed(done);
        InboxAttempt joined = begin("2");
        windlass.inTransaction(connection -> {
            inbox.markProcessed(connection, joined);
            return true;
        });
        inbox.abandon(begin("3"), "busy", Duration.ofMinutes(1));
        inbox.markDead(begin("4"), "unreadable");
        assertThat(told())
                .containsExactly(
                        "handled bank 1 done",
                        "handled bank 1 done",
                        "handled bank 1 retry",
                        "retried bank 1 PT1M busy",
                        "handled bank 1 failed",
                        "dead bank 1 unreadable");
    }

    @Test
    void nothingIsDoneBeforeItsCommitAndAnAttemptThatIsLostIsStopped() throws Exception {
        assertThatThrownBy(() -> inbox.process("bank", "1", connection -> {
                    database.update("update %s.inbox_seen set owner_token = gen_random_uuid()");
                }))
                .isInstanceOf(AttemptLostException.class);
        InboxAttempt lost = begin("2");
        database.update("update %s.inbox_seen set owner_token = gen_random_uuid()");
        assertThatThrownBy(() -> inbox.markProcessed(lost)).isInstanceOf(AttemptLostException.class);
        assertThat(told()).containsExactly("handled bank 1 stopped", "handled bank 1 stopped");
    }

    @Test
    void whatIsPutOffSaysForHowLong() {
        assertThatThrownBy(() -> inbox.process("bank", "1", connection -> {
                    throw new NotYet(Duration.ofMinutes(3), "soon");
                }))
                .isInstanceOf(NotYet.class);
        assertThat(told()).hasSize(2).element(1).asString().startsWith("retried bank 1 PT3M");
    }
}
