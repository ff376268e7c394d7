package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A constraint or a trigger of the user's own may refuse that a message is claimed. */
final class RefusedClaimTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final AtomicInteger handled = new AtomicInteger();

    private static void enqueue(String topic, String payload, int count) {
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, count)
                        .mapToObj(n -> OutboxEntry.of(topic, payload))
                        .toList());
    }

    private static void refuse(String state) throws SQLException {
        database.execute("create function %s.refuse() returns trigger language plpgsql as $$"
                + " begin raise exception 'refused' using errcode = '" + state + "'; end $$;"
                + " create trigger refuse before update on %s.outbox for each row"
                + " when (new.status = 1 and new.payload = 's3cr3t') execute function %s.refuse()");
    }

    @AfterEach
    void refuseNone() throws SQLException {
        database.closeAll();
        database.execute("alter table %s.outbox drop constraint if exists mine");
        database.execute("drop function if exists %s.refuse cascade");
    }

    @Test
    void aMessageWhoseClaimIsRefusedStopsNoOther() throws Exception {
        enqueue("a", "s3cr3t", 3);
        enqueue("a", "x", 50);
        enqueue("b", "x", 50);
        database.execute("alter table %s.outbox add constraint mine check (payload <> 's3cr3t') not valid");
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            database.start(database.windlass()
                    .outboxHandler("a", message -> handled.incrementAndGet())
                    .outboxHandler("b", message -> handled.incrementAndGet()));
            eventually().until(() -> database.count("status = 2") == 100);

            assertThat(logs.count(Level.WARN, "refuses a claim")).isEqualTo(1);
            assertThat(logs.lines()).noneMatch(line -> line.text().contains("s3cr3t"));
        }
        assertThat(handled).hasValue(100);
        assertThat(database.count("status = 0 and retry_count = 0")).isEqualTo(3);
    }

    @Test
    void aTopicThatHasOnePlaceGoesOnBehindAMessageThatIsRefused() throws Exception {
        enqueue("a", "s3cr3t", 2);
        enqueue("a", "x", 5);
        refuse("P0001");
        database.start(database.windlass()
                .outbox(OutboxOptions.defaults().withConcurrency(1).withBatchSize(1))
                .outboxHandler(
                        "a", HandlerOptions.defaults().withConcurrency(1), message -> handled.incrementAndGet()));
        eventually().until(() -> database.count("status = 2") == 5);
    }

    /** As trouble of the whole database sounds. */
    @ParameterizedTest
    @ValueSource(strings = {"40001", "53400"})
    void aStateThatMayPassIsTriedAFewTimesFirst(String state) throws Exception {
        enqueue("a", "s3cr3t", 1);
        enqueue("a", "x", 5);
        refuse(state);
        database.start(database.windlass().outboxHandler("a", message -> handled.incrementAndGet()));
        eventually().until(() -> database.count("status = 2") == 5);
    }
}
