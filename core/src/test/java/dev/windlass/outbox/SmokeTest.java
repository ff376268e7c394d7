package dev.windlass.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class SmokeTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void works() throws Exception {
        AtomicInteger seen = new AtomicInteger();
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> seen.incrementAndGet()));
        for (int i = 0; i < 100; i++) {
            windlass.outbox().enqueue(OutboxEntry.of("a", "x" + i));
        }
        await().until(() -> seen.get() == 100);
        await().until(() -> database.count("status = 2") == 100);
        assertThat(seen.get()).isEqualTo(100);
    }
}
