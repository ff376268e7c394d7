package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.HandlerOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A paused topic rests on all nodes; what they have claimed and not begun goes back. */
final class PauseTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final ConcurrentLinkedQueue<String> handled = new ConcurrentLinkedQueue<>();

    /** A node that finds work only when it is told of it. */
    private WindlassBuilder node() {
        return database.windlass()
                .options(database.options().withMaxPollingInterval(LONG))
                .outbox(OutboxOptions.defaults().withPollingInterval(LONG));
    }

    private void handle(OutboxMessage message) {
        handled.add(message.payload());
    }

    @Test
    void aResumedTopicGoesOnAtOnceOnNodesThatHadNothingElseToDo() {
        OutboxOperator anna = database.passive().outbox().operator("anna");
        anna.pause("topic", "the printer is out of paper");
        Windlass node = database.start(node().outboxHandler("topic", this::handle));
        node.outbox().enqueue(OutboxEntry.of("topic", "paused"));
        Windlass other = database.start(node().outboxHandler("other topic", this::handle));
        other.outbox().enqueue(OutboxEntry.of("other topic", "goes on"));

        eventually().until(() -> handled.contains("goes on"));
        assertThat(handled).containsExactly("goes on");
        anna.resume("topic");
        eventually().until(() -> handled.contains("paused"));
    }

    @Test
    void aNodeGivesBackWhatItHasNotBegunAndFinishesWhatItHas() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        Windlass node = database.start(
                node().outboxHandler("topic", HandlerOptions.defaults().withConcurrency(1), (OutboxMessage message) -> {
                    handle(message);
                    begun.countDown();
                    finish.await();
                }));
        List<OutboxMessageIdentifier> ids = node.outbox()
                .enqueueAll(IntStream.range(0, 20)
                        .mapToObj(i -> OutboxEntry.of("topic", "message " + i))
                        .toList());
        begun.await();

        node.outbox().operator("anna").pause("topic", "");
        eventually().until(() -> database.count("status = 1") == 1);
        finish.countDown();
        eventually().until(() -> database.count("status = 2") == 1);

        assertThat(handled).hasSize(1);
        assertThat(database.count("status = 0 and retry_count = 0 and lease_expiries = 0"))
                .isEqualTo(ids.size() - 1);
        node.outbox().operator("anna").resume("topic");
        eventually().until(() -> database.count("status = 2") == ids.size());
    }
}
