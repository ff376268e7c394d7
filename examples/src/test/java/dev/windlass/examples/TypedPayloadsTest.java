package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class TypedPayloadsTest {

    @Test
    void theHandlerDecidesWhatBecomesOfAMessage() throws Exception {
        assertThat(Run.example(TypedPayloads::main)).containsExactly("""
                {"card":"good","cents":1999}: DONE after 0 retries
                {"card":"busy","cents":1999}: DONE after 1 retries, last error dev.windlass.base.RetryAfter: the gateway asks for a pause
                {"card":"stolen","cents":1999}: FAILED after 0 retries, last error dev.windlass.base.PermanentFailure: the card is blocked
                {"card":"unreachable","cents":1999}: FAILED after 2 retries, last error java.io.IOException: no answer""".lines().toArray(String[]::new));
    }
}
