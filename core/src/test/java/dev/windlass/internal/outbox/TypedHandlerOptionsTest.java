package dev.windlass.internal.outbox;

import static org.awaitility.Awaitility.await;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TypedHandlerOptionsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void aTypedHandlerCanBringOptionsOfItsOwn() {
        HandlerOptions once =
                HandlerOptions.defaults().withRetry(RetryPolicy.defaults().withMaxAttempts(1));
        Windlass windlass = database.start(database.windlass().outboxHandler("a", once, Map.class, (map, message) -> {
            throw new IllegalStateException("no");
        }));
        windlass.outbox().enqueue(windlass.outbox().entry("a", Map.of("n", 1)));

        await().until(() -> database.count("status = 3 and retry_count = 0") == 1);
    }
}
