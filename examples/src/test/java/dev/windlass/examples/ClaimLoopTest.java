package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ClaimLoopTest {

    @Test
    void theLoopEndsEveryParcelAndALostLeaseIsNoticed() throws Exception {
        List<String> lines = Run.example(ClaimLoop::main);

        assertThat(lines)
                .contains("shipped small", "shipped flaky", "shipped heavy", "flaky comes again")
                .containsOnlyOnce("unreadable can never be shipped")
                .endsWith("slow renews 0, acks 0", "quick acks 1");
        assertThat(Run.text("select string_agg(payload || ' ' || status, ', ' order by payload) from windlass.outbox"))
                .isEqualTo("contested 2, flaky 2, heavy 2, small 2, unreadable 3");
        assertThat(Run.text("select last_error from windlass.outbox where status = 3"))
                .contains("no address");
    }
}
