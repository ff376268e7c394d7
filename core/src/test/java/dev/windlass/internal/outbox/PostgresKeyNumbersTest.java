package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The first number of an ordering key is the time. It is read after the wait for whoever writes to the key: others may have
 * come and gone meanwhile, and a later commit must not get the smaller number.
 */
final class PostgresKeyNumbersTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Outbox outbox = database.passive().outbox();

    private static OutboxEntry entry() {
        return OutboxEntry.of("topic", "{}").withOrderingKey("key");
    }

    @Test
    void aMessageThatWaitedIsNumberedByTheTimeAfterItsWait() throws SQLException {
        long before = rollBackWhile(() -> outbox.enqueue(entry()));

        assertThat(numbers()).hasSize(1).allSatisfy(number -> assertThat(number).isGreaterThan(before));
    }

    @Test
    void soAreManyThatAreWrittenAtOnceEachWithANumberOfItsOwn() throws SQLException {
        long before = rollBackWhile(() -> outbox.enqueueAll(List.of(entry(), entry(), entry())));

        assertThat(numbers())
                .hasSize(3)
                .doesNotHaveDuplicates()
                .allSatisfy(number -> assertThat(number).isGreaterThan(before));
        outbox.enqueue(entry());
        assertThat(numbers()).hasSize(4).doesNotHaveDuplicates();
    }

    /** Returns the last time, in microseconds, at which somebody else had the key. */
    private long rollBackWhile(Runnable write) throws SQLException {
        try (Connection other = database.owner().getConnection()) {
            other.setAutoCommit(false);
            outbox.enqueue(other, entry());
            CompletableFuture<Void> written = CompletableFuture.runAsync(write);
            eventually().until(PostgresKeyNumbersTest::somebodyWaits);
            long before =
                    database.value(Long.class, "select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint");
            other.rollback();
            written.join();
            return before;
        }
    }

    private static List<Long> numbers() {
        String all = database.value(
                String.class,
                "select string_agg(ordering_sequence::text, ' ' order by ordering_sequence) from %s.outbox");
        return Stream.of(all.split(" ")).map(Long::valueOf).toList();
    }

    private static boolean somebodyWaits() {
        return database.value(
                Boolean.class,
                "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%outbox_enqueue%')");
    }
}
