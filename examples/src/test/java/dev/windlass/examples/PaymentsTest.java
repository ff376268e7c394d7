package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class PaymentsTest {

    @Test
    void eachPaymentIsBookedOnceThroughRedeliveriesAndCrashes() throws Exception {
        List<String> lines = Run.example(Payments::main);

        assertThat(lines)
                .contains("the consumer died: p-2 after the commit", "the consumer died: p-3 in the middle")
                .containsSubsequence("p-1: PROCESSED", "p-1: ALREADY_PROCESSED")
                .contains("p-2: ALREADY_PROCESSED", "p-3: PROCESSED", "p-4: DEAD")
                .contains("p-1: ALREADY_PROCESSED, but it is not what came first")
                .doesNotContain("p-2: PROCESSED");
        assertThat(Run.text("select string_agg(id || ' ' || amount, ', ' order by id) from bookings"))
                .isEqualTo("p-1 10, p-2 20, p-3 30");
        assertThat(Run.text(
                        "select string_agg(message_id || status, ',' order by message_id) from windlass.inbox_seen"))
                .isEqualTo("p-12,p-22,p-32,p-43");
        assertThat(Run.text("select retry_count from windlass.inbox_seen where message_id = 'p-4'"))
                .isEqualTo("3");
    }
}
