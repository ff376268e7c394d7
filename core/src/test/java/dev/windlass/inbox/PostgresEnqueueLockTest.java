package dev.windlass.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.EngineDatabase;
import dev.windlass.OwnerToken;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who waits for whom when one message is stored twice. */
@Timeout(60)
final class PostgresEnqueueLockTest extends InboxConformance {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    @Override
    EngineDatabase database() {
        return new PostgresDatabase(postgres);
    }

    /** The second caller tells his broker that the message is safe; so it has to be. */
    @Test
    void whatFailedUnderTheGuardIsQueuedByTheSecondIfTheFirstRollsBack() throws Exception {
        inbox.abandon(begun("1"), "no", Duration.ZERO);
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueue(connection, entry("1")).isNew()).isTrue();
            CompletableFuture<Enqueued> second = CompletableFuture.supplyAsync(() -> inbox.enqueue(entry("1")));
            eventually().until(() -> second.isDone() || waitsForALock());
            connection.rollback();
            assertThat(second.get().isNew()).isTrue();
        }
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    @Test
    void whatFailedUnderTheGuardIsQueuedOnceIfTheFirstCommits() throws Exception {
        inbox.abandon(begun("1"), "no", Duration.ZERO);
        try (Connection connection = transaction()) {
            assertThat(inbox.enqueue(connection, entry("1")).isNew()).isTrue();
            CompletableFuture<Enqueued> second = CompletableFuture.supplyAsync(() -> inbox.enqueue(entry("1")));
            eventually().until(() -> second.isDone() || waitsForALock());
            connection.commit();
            assertThat(second.get().isNew()).isFalse();
        }
        assertThat(inbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
    }

    private boolean waitsForALock() {
        return postgres.value(
                Boolean.class,
                "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%enqueue_all%')");
    }
}
