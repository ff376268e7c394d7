package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A container makes a Windlass before it starts it, and may end and start it again. */
final class RestartTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    private Windlass built() {
        return Windlass.on(database.dataSource())
                .options(database.options())
                .outboxHandler("a", message -> handled.add(message.payload()))
                .build();
    }

    @Test
    void nothingIsHandledBeforeTheStart() {
        try (Windlass windlass = built()) {
            windlass.outbox().enqueue(OutboxEntry.of("a", "early"));
            assertThat(windlass.isRunning()).isFalse();
            assertThat(handled).isEmpty();

            windlass.start();

            eventually().untilAsserted(() -> assertThat(handled).containsExactly("early"));
            assertThat(windlass.start()).isSameAs(windlass);
        }
    }

    @Test
    void oneThatWasClosedWritesAndHandlesAgainWhenItIsStarted() {
        try (Windlass windlass = built()) {
            Outbox before = windlass.outbox();
            windlass.start().close();
            assertThat(windlass.isRunning()).isFalse();

            windlass.outbox().enqueue(OutboxEntry.of("a", "meanwhile"));
            windlass.start();

            eventually().untilAsserted(() -> assertThat(handled).containsExactly("meanwhile"));
            before.enqueue(OutboxEntry.of("a", "by the old one"));
            windlass.outbox().enqueue(OutboxEntry.of("a", "by the new one"));
            eventually()
                    .untilAsserted(() -> assertThat(handled)
                            .containsExactlyInAnyOrder("meanwhile", "by the old one", "by the new one"));
        }
    }

    @Test
    void oneThatNeverStartedCanBeClosed() {
        Windlass windlass = built();

        windlass.close();

        assertThat(windlass.isRunning()).isFalse();
    }
}
