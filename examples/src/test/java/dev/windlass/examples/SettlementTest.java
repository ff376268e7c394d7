package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SettlementTest {

    @Test
    void theLateWriteOfAFormerHolderIsRefused() throws Exception {
        assertThat(Run.example(Settlement::main))
                .containsExactly(
                        "settled by the first", "settled by the second", "refused the late write of the first");
        assertThat(Run.text("select result from settlement")).isEqualTo("second");
    }
}
