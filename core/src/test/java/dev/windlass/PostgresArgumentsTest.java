package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What callers in SQL get wrong is refused before anything is written, and they are told what was expected. */
final class PostgresArgumentsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            outbox_enqueue('a', '', p_due_at => now(), p_delay => '1 s')                      | a due time or a delay, got both
            outbox_enqueue('a', '', p_due_at => now() + '1 h'::interval, p_expires_at => now()) | a message that expires after it is due
            outbox_enqueue('a', '', p_delay => '1 h', p_expires_at => now() + '1 min'::interval) | a message that expires after it is due
            outbox_enqueue_all(null, array['a', 'b'], array[''])                              | arrays of the same length, got 2, 1
            outbox_enqueue_all(null, array['a'], null)                                        | arrays of the same length, got 1, -1
            outbox_enqueue_all(null, array['a'], array[''], p_ordering_keys => array['k', 'k']) | arrays of the same length
            outbox_enqueue_all(null, array['a'], array[''], p_due_ats => array[now()], p_delays => array['1 s'::interval]) | a due time or a delay, got both
            outbox_enqueue_all(null, array['a'], array[''], p_due_ats => array[now()], p_expires_ats => array[now()]) | a message that expires after it is due
            outbox_claim(gen_random_uuid(), '0', 1)                                           | a lease of more than nothing, got 00:00:00
            outbox_claim(gen_random_uuid(), null, 1)                                          | a lease of more than nothing, got null
            outbox_claim(gen_random_uuid(), '-1 s', 1)                                        | a lease of more than nothing
            outbox_claim(gen_random_uuid(), '1 s', 1, array['a', 'b'], array[1])              | arrays of the same length, got 2, 1
            outbox_heartbeat(array[gen_random_uuid()], array[gen_random_uuid()], '0')         | a lease of more than nothing
            outbox_abandon(array[gen_random_uuid()], array[gen_random_uuid()], p_errors => array['a', 'b']) | arrays of the same length
            outbox_fail(array[gen_random_uuid()], array[gen_random_uuid()], p_block => array[true, true])   | arrays of the same length
            outbox_timer_schedule_all(null, array['a'], array['b', 'c'], p_due_ats => array[now()]) | arrays of the same length
            outbox_timer_claim(gen_random_uuid(), '0', 1)                                     | a lease of more than nothing
            outbox_job_run_claim(gen_random_uuid(), '0', 1)                                   | a lease of more than nothing
            inbox_enqueue('s', '1', 'a', '', p_due_at => now(), p_delay => '1 s')             | a due time or a delay, got both
            inbox_enqueue_all(array['s'], array['1', '2'], array['a'], array[''])             | arrays of the same length
            inbox_claim(gen_random_uuid(), '0', 1)                                            | a lease of more than nothing
            inbox_begin('s', '1', gen_random_uuid(), '0', 5)                                  | a lease of more than nothing
            lease_acquire('n', gen_random_uuid(), 'o', '0')                                   | a duration of more than nothing
            """)
    void itIsRefusedWithASentence(String call, String expected) {
        assertThatThrownBy(() -> database.execute("select * from %s." + call))
                .hasMessageContaining("expected " + expected);
        assertThat(
                        database.value(
                                Long.class,
                                "select (select count(*) from %s.outbox) + (select count(*) from %s.inbox) + (select count(*) from %s.outbox_timer)"))
                .isZero();
    }
}
