package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class QuickStartTest {

    @Test
    void theTenLinesOfTheReadmeSendAMail() throws Exception {
        assertThat(Run.example(QuickStart::main)).containsExactly("sent a mail for order-1");
        assertThat(Run.text("select string_agg(id, ',') from orders")).isEqualTo("order-1");
    }
}
