package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Page;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that were written in SQL: what the table takes can be read, and what cannot be read it does not take. */
final class PostgresStrangeRowsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<InboxKey> handled = new ConcurrentLinkedQueue<>();

    private static void queue(String values) throws SQLException {
        database.execute(
                "insert into %s.inbox (id, created_at, next_attempt_at, source, message_id, topic, payload, due_at,"
                        + " headers) values (gen_random_uuid(), now(), now(), " + values + ")");
    }

    private static void failed(String values) throws SQLException {
        database.execute(
                "insert into %s.inbox_seen (source, status, message_id, first_seen_at, last_seen_at, state_at, hash)"
                        + " values ('orders', 3, " + values + ")");
    }

    @Test
    void strangeMessagesAreHandledAsTheirNeighboursAre() throws SQLException {
        for (int i = 0; i < 5; i++) {
            queue("'orders', '" + i + "', 'a', '', null, null");
        }
        queue("'orders', repeat('😀', 130), 'a', '', null, null");
        queue("repeat('😀', 255), repeat('ä', 255), 'a', '😀', null, '{}'");
        queue("'orders', 'early', 'a', '', '-infinity', null");
        queue("'orders', 'ancient', 'a', '', '4713-01-01 00:00:00+00 BC', null");
        queue("'orders', 'endless', 'a', '', 'infinity', null");
        queue("'orders', 'late', 'a', '', '290000-01-01 00:00:00+00', null");
        queue("'orders', 'headers', 'a', '', null, '{\"\": null, \"n\": [1, {\"x\": \"}\"}], \"u\": \"\\u00e4\"}'");
        queue("E'\\u00a0', E'\\tx', 'a', '', null, null");
        database.start(database.windlass().inboxHandler("a", message -> handled.add(message.key())));
        eventually().until(() -> handled.size() == 13);
        eventually().until(() -> database.value(Long.class, "select count(*) from %s.inbox where status = 2") == 13);
    }

    @Test
    void listsShowStrangeMessages() throws SQLException {
        failed("repeat('😀', 255), now(), now(), now(), sha256('x')");
        failed("'infinite', '-infinity', 'infinity', now(), null");
        failed(
                "'late', '290000-01-01 00:00:00+00', '294276-12-31 23:59:59.999999+00', '290000-01-01 00:00:00+00', null");
        failed("'early', '4713-01-01 00:00:00+00 BC', '0001-01-01 00:00:00+00', '4713-01-01 00:00:00+00 BC', null");
        Inbox inbox = database.passive().inbox();
        Page<ListedMessage> page = inbox.operator("anna").list(MessageFilter.failed(), 1);
        List<ListedMessage> all = new ArrayList<>(page);
        while (page.next().isPresent()) {
            page = inbox.operator("anna")
                    .list(MessageFilter.failed(), 1, page.next().orElseThrow());
            all.addAll(page);
        }
        assertThat(all).hasSize(4).extracting(ListedMessage::key).doesNotHaveDuplicates();
        all.forEach(
                each -> assertThat(inbox.find(each.key().source(), each.key().messageId()))
                        .isPresent());
        assertThat(inbox.operator("anna").requeue(MessageFilter.failed().withSource("orders"), Attempts.RESET))
                .isEqualTo(4);
    }

    @Test
    void stuckMessagesAreListedWhateverTheirTimes() throws SQLException {
        database.execute("insert into %s.inbox_seen (source, message_id, first_seen_at, last_seen_at, state_at, status,"
                + " claimed_at, locked_until, owner_token) values ('orders', 'x', '-infinity', 'infinity', now(), 1,"
                + " '4713-01-01 00:00:00+00 BC', '290000-01-01 00:00:00+00', gen_random_uuid())");
        Windlass windlass = database.passive();
        assertThat(windlass.inbox().operator("anna").stuck(Duration.ofHours(1), 10))
                .hasSize(1);
        assertThat(windlass.inbox().begin("orders", "x")).isInstanceOf(Begin.InProgress.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "source = ''",
                "source = E'\\u2003\\t'",
                "source = 'x '",
                "message_id = E'\\u3000'",
                "message_id = 'x '",
                "message_id = repeat('x', 256)",
                "topic = E' \\n'",
                "topic = 'x '",
                "hash = sha224('x')",
                "headers = '[]'",
                "headers = 'null'",
                "status = 6, ended_at = now()",
                "status = 4",
                "source = null",
                "message_id = null",
                "next_attempt_at = '-infinity'",
                "next_attempt_at = '4713-01-01 00:00:00+00 BC'",
                "status = 2, ended_at = 'infinity'",
                "status = 1, owner_token = gen_random_uuid(), claimed_at = now(), locked_until = 'infinity'",
                "status = 1, owner_token = gen_random_uuid(), claimed_at = '-infinity', locked_until = now()"
            })
    void whatCannotBeReadIsRefused(String change) throws SQLException {
        queue("'orders', '1', 'a', '', null, null");
        assertThatThrownBy(() -> database.execute("update %s.inbox set " + change))
                .isInstanceOf(SQLException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "source = ''",
                "message_id = 'x '",
                "hash = sha224('x')",
                "status = 4",
                "status = null",
                "id = gen_random_uuid()",
                "state_at = 'infinity'",
                "state_at = null",
                "claimed_at = '-infinity'",
                "retry_count = -1",
                "status = 0, state_at = '4713-01-01 00:00:00+00 BC'",
                "status = 1",
                "locked_until = now()"
            })
    void whatTheGuardCannotReadIsRefused(String change) throws SQLException {
        failed("'1', now(), now(), now(), null");
        assertThatThrownBy(() -> database.execute("update %s.inbox_seen set " + change))
                .isInstanceOf(SQLException.class);
    }

    /** What is kept aside becomes work later, when nobody is there to be told that it cannot. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "'x ', '', '{}', null",
                "E'\\t', '', '{}', null",
                "'x', '', '[]', null",
                "'x', '', '{}', 'abcd'",
                "'x', '', jsonb_build_object('a', repeat('x', 70000)), null",
            })
    void whatCannotBecomeWorkIsNotKeptAside(String bad) {
        database.passive().inbox().begin("orders", "1");
        assertThatThrownBy(() -> database.execute("select %s.inbox_enqueue('orders', '1', " + bad + ")"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("_check");
    }
}
