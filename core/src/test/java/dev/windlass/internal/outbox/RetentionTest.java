package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class RetentionTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void withoutRetentionHandledMessagesAreGone() {
        AtomicInteger handled = new AtomicInteger();
        Windlass windlass = database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withRetention(Duration.ZERO))
                .outboxHandler("a", message -> handled.incrementAndGet()));
        windlass.outbox()
                .enqueueAll(IntStream.range(0, 100)
                        .mapToObj(n -> OutboxEntry.of("a", "x"))
                        .toList());
        eventually().until(() -> database.count("true") == 0);
        assertThat(handled.get()).isEqualTo(100);
    }

    @Test
    void whatIsOlderThanTheRetentionIsDeletedBatchByBatchAndTheRestIsKept() throws Exception {
        database.execute("""
                insert into %s.outbox (id, created_at, next_attempt_at, ended_at, status, topic, payload)
                select gen_random_uuid(), clock_timestamp(), clock_timestamp(),
                       clock_timestamp() - case when n <= 1234 then interval '8 days' else interval '6 days' end,
                       case when n % 100 = 0 then 3 else 2 end, 'a', 'x'
                  from generate_series(1, 2000) n""");
        database.start(database.windlass().outboxHandler("a", message -> {}));
        eventually()
                .until(() -> database.count("status = 2 and ended_at < clock_timestamp() - interval '7 days'") == 0);
        assertThat(database.count("status = 2")).isEqualTo(766 - 8);
        assertThat(database.count("status = 3")).as("failed messages are kept").isEqualTo(20);
    }

    /** With messages that are deleted at once nothing else tells that there is more to do. */
    @Test
    void keysWhoseWindowIsOverAreForgottenHoweverManyThereAre() throws Exception {
        database.execute("""
                insert into %s.outbox_dedup (topic, dedup_key, message_id, expires_at)
                select 'a', n::text, gen_random_uuid(),
                       clock_timestamp() + case when n <= 1234 then interval '-1 s' else interval '1 day' end
                  from generate_series(1, 1300) n""");
        database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withRetention(Duration.ZERO))
                .outboxHandler("a", message -> {}));
        eventually().until(() -> database.value(Long.class, "select count(*) from %s.outbox_dedup") == 66);
    }
}
