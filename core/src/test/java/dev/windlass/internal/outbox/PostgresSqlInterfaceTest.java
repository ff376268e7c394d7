package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The routines as psql or a program in another language calls them. */
final class PostgresSqlInterfaceTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofMinutes(1);

    private Outbox outbox;

    @BeforeEach
    void start() {
        outbox = database.passive().outbox();
    }

    @Test
    @Shows("OBX-014")
    void aMessageNeedsNoMoreThanATopicAndAPayload() {
        OffsetDateTime before = database.value(OffsetDateTime.class, "select clock_timestamp()");
        UUID id = database.value(UUID.class, "select %s.outbox_enqueue('topic', 'payload')");

        OutboxMessage message = outbox.claim(OwnerToken.fresh(), LEASE, 10).get(0);
        assertThat(message.messageId().value()).isEqualTo(id);
        assertThat(message.payload()).isEqualTo("payload");
        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(id.getMostSignificantBits() >>> 16)
                .isBetween(
                        before.toInstant().toEpochMilli(), message.createdAt().toEpochMilli());
    }

    @Test
    @Shows("OBX-008")
    void anEmptyCorrelationIdIsNoneInSqlToo() throws SQLException {
        database.execute("select %s.outbox_enqueue('topic', '', '')");
        database.execute("select %s.outbox_enqueue_all(null, '{topic}', '{x}', array[''])");

        assertThat(database.count("correlation_id is null")).isEqualTo(2);
    }

    @Test
    void whatJavaWroteIsClaimedAndCompletedInSql() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("topic", "payload"));
        UUID owner = UUID.randomUUID();

        assertThat(database.value(
                        String.class, "select payload from %s.outbox_claim(?, interval '1 minute', 10)", owner))
                .isEqualTo("payload");
        assertThat(database.value(
                        Integer.class,
                        "select changed from %s.outbox_ack(array[?::uuid], array[?::uuid], 'psql', true)",
                        id.value(),
                        owner))
                .isEqualTo(1);
        assertThat(outbox.find(id).orElseThrow().processedBy()).contains("psql");
    }

    @Test
    void releaseReapExpireAndCleanNeedNoMoreThanWhatOnlyTheCallerKnows() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("topic", "payload"));
        UUID owner = UUID.randomUUID();
        database.value(UUID.class, "select id from %s.outbox_claim(?, interval '1 minute', 10)", owner);

        assertThat(database.value(
                        Integer.class,
                        "select changed from %s.outbox_release(array[?::uuid], array[?::uuid])",
                        id.value(),
                        owner))
                .isEqualTo(1);
        assertThat(outbox.claim(OwnerToken.fresh(), LEASE, 10)).hasSize(1);
        assertThat(database.value(Integer.class, "select %s.outbox_reap(p_quiet => '0 s')"))
                .isZero();
        assertThat(database.value(Integer.class, "select %s.outbox_expire()")).isZero();
        assertThat(database.value(Integer.class, "select %s.outbox_clean(p_keep => '7 days')"))
                .isZero();
    }

    @Test
    void aDeduplicationKeyWithoutAWindowIsRefusedInPlainWords() {
        assertThatThrownBy(() -> database.execute("select %s.outbox_enqueue('topic', '', p_dedup_key => 'order-7')"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("expected a window with the deduplication key, got null");
    }

    @Test
    void valuesOfHeadersThatAreNotTextsAreReadAsTheirText() {
        database.value(UUID.class, """
                select %s.outbox_enqueue('topic', '', null, '{
                    "text": "a \\"quoted\\" \\\\ \\u00fc \\ud83d\\ude00 }",
                    "number": -1.5e3, "yes": true, "none": null, "": "empty name",
                    "list": [1, "]", {"a": "}"}], "object": {"b": {"c": ["{", "\\"}"]}}, "hollow": {}}')""");

        Map<String, String> headers =
                outbox.claim(OwnerToken.fresh(), LEASE, 10).get(0).headers();
        assertThat(headers)
                .containsEntry("text", "a \"quoted\" \\ \u00fc \uD83D\uDE00 }")
                .containsEntry("number", "-1500")
                .containsEntry("yes", "true")
                .containsEntry("none", "null")
                .containsEntry("", "empty name")
                .containsEntry("list", "[1, \"]\", {\"a\": \"}\"}]")
                .containsEntry("object", "{\"b\": {\"c\": [\"{\", \"\\\"}\"]}}")
                .containsEntry("hollow", "{}")
                .hasSize(8);
    }

    /** One that nobody can read would be claimed over and over, and take its neighbours with it. */
    @ParameterizedTest
    @ValueSource(strings = {"[1]", "\"text\"", "1", "true", "null"})
    void headersThatAreNotAnObjectAreRefused(String headers) {
        assertThatThrownBy(
                        () -> database.execute("select %s.outbox_enqueue('topic', '', null, '" + headers + "'::jsonb)"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("windlass_headers_check");
    }

    @ParameterizedTest
    @ValueSource(strings = {"'', ''", "'  ', ''", "null, ''", "'topic', null", "repeat('t', 256), ''"})
    @Shows({"OBX-004", "OBX-005", "OBX-007"})
    void theTableRefusesWhatTheApiRefuses(String topicAndPayload) {
        assertThatThrownBy(() -> database.execute("select %s.outbox_enqueue(" + topicAndPayload + ")"))
                .isInstanceOf(SQLException.class);
        assertThat(database.count("true")).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update %s.outbox set status = 1",
                "update %s.outbox set status = 2",
                "update %s.outbox set status = 4",
                "update %s.outbox set status = 6",
                "update %s.outbox set priority = 10",
                "update %s.outbox set retry_count = -1",
                "update %s.outbox set topic = 'x '",
                "update %s.outbox set claimed_at = 'infinity'",
                "update %s.outbox set ordering_key = 'x'",
                "update %s.outbox set locked_until = now()",
                "update %s.outbox set ended_at = now()"
            })
    void aStateThatCannotBeIsRefused(String sql) throws SQLException {
        database.execute("select %s.outbox_enqueue('topic', '')");

        assertThatThrownBy(() -> database.execute(sql))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("violates check constraint");
    }

    /** A duration in nanoseconds ends after 292 years. */
    @ParameterizedTest
    @ValueSource(strings = {"9999-12-31", "infinity"})
    void aMessageThatIsDueInThousandsOfYearsDoesNotDisturbTheSearchForTheNext(String due) throws SQLException {
        database.execute("select %s.outbox_enqueue('topic', '', p_due_at => '" + due + "')");

        assertThat(nextDue().orElseThrow()).isPositive().isLessThanOrEqualTo(Duration.ofDays(1));
        database.execute("select %s.outbox_enqueue('topic', '', p_delay => '1 hour')");
        assertThat(nextDue().orElseThrow()).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
    }

    @Test
    void withoutAReadyMessageThereIsNoNextDueTime() throws SQLException {
        assertThat(nextDue()).isEmpty();
    }

    private static Optional<Duration> nextDue() throws SQLException {
        Database routines = new Database(database.dataSource(), new PostgresDialect(), database.schema(), "test");
        OutboxStore store =
                new OutboxStore(routines, OutboxOptions.defaults().withRetention(Duration.ZERO), "node", () -> true);
        return routines.once(
                connection -> store.nextDue(connection, List.of(new WorkStore.Demand("topic", 1, Position.START))));
    }
}
