package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class OpenSnapshotTest {
    private static final int MESSAGES = 20_000;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    @Shows("OBX-118")
    void aForeignTransactionThatHoldsItsSnapshotDoesNotStopADrain() throws Exception {
        Set<UUID> handled = ConcurrentHashMap.newKeySet();
        Windlass writer = database.passive();
        for (int i = 0; i < MESSAGES; i += 1000) {
            writer.outbox()
                    .enqueueAll(IntStream.range(0, 1000)
                            .mapToObj(n -> OutboxEntry.of("a", "x"))
                            .toList());
        }
        try (Connection foreign = database.owner().getConnection();
                Statement statement = foreign.createStatement()) {
            foreign.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            foreign.setAutoCommit(false);
            statement.execute("select count(*) from \"" + database.schema() + "\".outbox");
            database.start(database.windlass()
                    .outbox(OutboxOptions.defaults().withBatchSize(200))
                    .outboxHandler("a", message -> handled.add(message.id().value())));
            eventually().until(() -> database.count("status = 2") == MESSAGES);
        }
        assertThat(handled).hasSize(MESSAGES);
        assertThat(database.count("lease_expiries > 0 or retry_count > 0")).isZero();
    }
}
