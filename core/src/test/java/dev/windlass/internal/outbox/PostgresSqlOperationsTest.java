package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.operator.PausedTopic;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys, dead letters and pauses as psql or a program in another language uses them. */
final class PostgresSqlOperationsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private Outbox outbox;

    @BeforeEach
    void start() {
        outbox = database.passive().outbox();
    }

    @Test
    void theNilIdIsRefusedUnderAKeyBecauseItStandsForNobody() {
        String nil = "p_id => '00000000-0000-0000-0000-000000000000'";
        assertThatThrownBy(() ->
                        database.execute("select %s.outbox_enqueue('topic', '', p_ordering_key => 'key', " + nil + ")"))
                .hasMessageContaining("expected the id of a message, got the nil UUID");
        assertThat(database.count("true")).isZero();
    }

    private static long rows(String table) {
        return database.value(Long.class, "select count(*) from %s." + table);
    }

    private OutboxMessageIdentifier failed() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("topic", "payload"));
        OwnerToken owner = OwnerToken.fresh();
        outbox.claim(owner, Duration.ofMinutes(1), 10)
                .forEach(message -> outbox.fail(owner, List.of(message.id()), "no"));
        return id;
    }

    private static void refused(String call, String message) {
        assertThatThrownBy(() -> database.execute("select %s." + call))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("Hint: ");
    }

    @AfterEach
    void nothingIsHalfWritten() {
        assertThat(database.value(Long.class, """
                        select count(*) from %s.outbox_dedup d
                         where not exists (select from %s.outbox m where m.id = d.message_id)""")).isZero();
    }

    @Test
    void aKeyAndAWindowDeduplicate() {
        String call = "select %s.outbox_enqueue('topic', '', p_dedup_key => 'a', p_dedup_window => '1 hour')";
        UUID first = database.value(UUID.class, call);

        assertThat(database.value(UUID.class, call)).isEqualTo(first);
        assertThat(database.value(
                        UUID.class,
                        "select (%s.outbox_enqueue_all(null, '{topic,topic,topic}', '{x,y,z}',"
                                + " p_dedup_keys => '{b,a,null}', p_dedup_windows => '{1 day,1 hour,null}'))[2]"))
                .isEqualTo(first);
        assertThat(rows("outbox")).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "p_dedup_key => 'a'                              | expected a window with the deduplication key, got null",
                "p_dedup_key => 'a', p_dedup_window => '0'       | positive window with the deduplication key, got 00:00:00",
                "p_dedup_key => 'a', p_dedup_window => '-1 hour' | positive window with the deduplication key, got -01:00:00",
                "p_dedup_key => '', p_dedup_window => '1 hour'   | expected a deduplication key, got blank text",
                "p_dedup_key => ' ', p_dedup_window => '1 hour'  | expected a deduplication key, got blank text",
                "p_dedup_window => '1 hour'                      | expected a deduplication key, got a window without one",
                "p_ordering_key => ' '                           | expected an ordering key, got blank text"
            })
    void keysThatCannotBeAreRefusedBeforeAnythingIsWritten(String arguments, String message) {
        refused("outbox_enqueue('topic', '', " + arguments + ")", message);
        String arrays = arguments
                .replace("p_dedup_key", "p_dedup_keys")
                .replace("p_dedup_window", "p_dedup_windows")
                .replace("p_ordering_key", "p_ordering_keys")
                .replaceAll("=> '(.*?)'", "=> '{null,\"$1\"}'");
        refused("outbox_enqueue_all(null, '{topic,topic}', '{x,y}', " + arrays + ")", message);

        assertThat(rows("outbox")).isZero();
        assertThat(rows("outbox_dedup")).isZero();
        assertThat(rows("outbox_key")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"'', ''", "null, ''", "'topic', null", "repeat('t', 256), ''"})
    void aMessageThatIsRefusedTakesNoKey(String topicAndPayload) {
        assertThatThrownBy(() -> database.execute("select %s.outbox_enqueue(" + topicAndPayload
                        + ", p_ordering_key => 'o', p_dedup_key => 'd', p_dedup_window => '1 hour')"))
                .isInstanceOf(SQLException.class);
        assertThat(rows("outbox_dedup") + rows("outbox_key") + rows("outbox")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"requeue", "purge", "skip"})
    void aChangeOfDeadLettersSaysWhoAndWhichAndHowMany(String verb) {
        failed();
        String call = "outbox_" + verb;
        refused(call + "(null, p_all => true)", "expected the name of the operator, got null");
        refused(call + "(' ', p_all => true)", "expected the name of the operator, got blank text");
        refused(call + "('anna')", "expected message ids or a filter, got neither");
        refused(call + "('anna', (select array_agg(id) from %s.outbox where false))", "got neither");
        refused(call + "('anna', '{}', 'topic')", "expected message ids or a filter, got both");
        refused(call + "('anna', p_all => true, p_limit => 0)", "expected a positive limit, got 0");
        refused(call + "('anna', p_all => true, p_limit => -1)", "expected a positive limit, got -1");
        refused(call + "('anna', p_all => true, p_action => 42)", "of a " + verb + " by anna that is recorded, got 42");

        assertThat(database.count("status = 3 and requeues = 0")).isEqualTo(1);
        assertThat(rows("windlass_action")).isZero();
    }

    @Test
    void batchesOfOneActionAreOfOneOperatorAndOneVerb() throws SQLException {
        failed();
        failed();
        long action = database.value(
                Long.class, "select action from %s.outbox_requeue('anna', p_topic => 'topic', p_limit => 1)");

        refused("outbox_requeue('bert', p_topic => 'topic', p_action => " + action + ")", "of a requeue by bert");
        refused("outbox_purge('anna', p_topic => 'topic', p_action => " + action + ")", "of a purge by anna");
        database.execute("select %s.outbox_requeue('anna', p_topic => 'topic', p_action => " + action + ")");

        assertThat(database.count("status = 0")).isEqualTo(2);
        assertThat(database.value(Integer.class, "select messages from %s.windlass_action"))
                .isEqualTo(2);
    }

    @Test
    void idsThatAreMissingAreNotTheSameAsNone() {
        refused("outbox_cancel(null)", "expected an array of ids, got null");
        refused("outbox_reschedule(null)", "expected an array of ids, got null");
        refused("outbox_erase('anna', null)", "expected an array of ids, got null");
        refused("outbox_erase('', '{}')", "expected the name of the operator, got blank text");

        assertThat(database.value(Integer.class, "select %s.outbox_cancel('{}')"))
                .isZero();
        assertThat(database.value(Integer.class, "select %s.outbox_cancel('{null}')"))
                .isZero();
    }

    @Test
    void aMessageIsRescheduledByTimeOrByDelayAndNotByBoth() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("topic", ""));
        String due = "select due_at - clock_timestamp() > interval '59 minutes' from %s.outbox";

        assertThat(database.value(
                        Integer.class, "select %s.outbox_reschedule(array[?::uuid], p_delay => '1 hour')", id.value()))
                .isEqualTo(1);
        assertThat(database.value(Boolean.class, due)).isTrue();
        assertThatThrownBy(() -> database.execute(
                        "select %s.outbox_reschedule('{}', p_due_at => 'infinity', p_delay => '1 hour')"))
                .hasMessageContaining("expected a due time or a delay, got both");
    }

    @Test
    void limitsThatAreNegativeAreRefused() {
        for (String call :
                new String[] {"outbox_list(-1)", "outbox_actions(-1)", "outbox_expire(-1)", "outbox_clean_dedup(-1)"}) {
            assertThatThrownBy(() -> database.execute("select %s." + call))
                    .hasMessageContaining("LIMIT must not be negative");
        }
    }

    @Test
    void aPauseSaysWhoAndWhichTopic() throws SQLException {
        refused("outbox_pause_topic(null, 'topic')", "expected the name of the operator, got null");
        refused("outbox_pause_topic(' ', 'topic')", "expected the name of the operator, got blank text");
        refused("outbox_pause_topic('anna', null)", "expected a topic, got null");
        refused("outbox_pause_topic('anna', ' ')", "expected a topic, got blank text");
        refused("outbox_resume_topic('', 'topic')", "expected the name of the operator, got blank text");
        assertThat(rows("windlass_topic") + rows("windlass_action")).isZero();

        outbox.enqueue(OutboxEntry.of("topic", ""));
        database.execute("select %s.outbox_pause_topic('anna', 'topic')");
        assertThat(database.value(
                        Long.class, "select count(*) from %s.outbox_claim(gen_random_uuid(), interval '1 minute', 10)"))
                .isZero();
        assertThat(outbox.operator("bert").pausedTopics())
                .extracting(PausedTopic::by)
                .containsExactly("anna");
        database.execute("select %s.outbox_resume_topic('bert', 'topic')");
        assertThat(database.value(
                        Long.class, "select count(*) from %s.outbox_claim(gen_random_uuid(), interval '1 minute', 10)"))
                .isEqualTo(1);
    }
}
