package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Payloads erased for good. */
@OnEveryEngine
final class EraseConformance extends OutboxConformance {
    private final OwnerToken owner = OwnerToken.fresh();
    private OutboxOperator anna;

    @BeforeEach
    void signIn() {
        anna = outbox.operator("anna");
    }

    private OutboxMessageIdentifier secret() {
        return outbox.enqueue(OutboxEntry.of("topic", "anna@example.org")
                .withHeaders(Map.of("phone", "555-0199"))
                .withCorrelationId("order 7"));
    }

    @Test
    void payloadAndHeadersAreGoneFromTheTableAndTheRestStays() {
        OutboxMessageIdentifier id = secret();
        outbox.abandon(owner, claim(owner, 10), Duration.ZERO, "once");
        fail("broken");
        String row = "select * from %s.outbox where id = ?";
        assertThat(database().rows(row, id.value()).get(0)).contains("anna@example.org", "555-0199");

        assertThat(anna.erase(List.of(id))).isEqualTo(1);

        assertThat(database().rows(row, id.value()).get(0)).doesNotContain("anna@example.org", "555-0199", "phone");
        OutboxMessage message = stored(workItem(id));
        assertThat(message.payload()).isEmpty();
        assertThat(message.headers()).isEmpty();
        assertThat(message.erasedAt()).isPresent();
        assertThat(message.status()).isEqualTo(WorkStatus.FAILED);
        assertThat(message.correlationId()).contains("order 7");
        assertThat(message.lastError()).contains("broken");
        assertThat(outbox.failures(id)).hasSize(2);
    }

    @Test
    void onlyWhatHasEndedIsErased() {
        OutboxMessageIdentifier failed = secret();
        fail("broken");
        OutboxMessageIdentifier done = secret();
        outbox.ack(owner, claim(owner, 10));
        OutboxMessageIdentifier cancelled = secret();
        outbox.cancel(cancelled);
        OutboxMessageIdentifier held = secret();
        claim(owner, 10);
        OutboxMessageIdentifier ready = secret();
        OutboxMessageIdentifier unknown = new OutboxMessageIdentifier(UUID.randomUUID());

        assertThat(anna.erase(List.of(unknown, failed, done, done, cancelled, held, ready)))
                .isEqualTo(3);
        assertThat(anna.erase(List.of(failed, done))).isZero();

        assertThat(count("payload = '' and headers is null and erased_at is not null"))
                .isEqualTo(3);
        assertThat(stored(workItem(held)).payload()).isEqualTo("anna@example.org");
        assertThat(stored(workItem(ready)).payload()).isEqualTo("anna@example.org");
    }

    @Test
    void itIsRecordedWithoutWhatWasErased() {
        OutboxMessageIdentifier id = secret();
        outbox.cancel(id);

        anna.erase(List.of(id));

        List<OperatorAction> actions = anna.actions(10);
        assertThat(actions).hasSize(1);
        assertThat(actions.get(0).by()).isEqualTo("anna");
        assertThat(actions.get(0).verb()).isEqualTo("erase");
        assertThat(actions.get(0).messages()).isEqualTo(1);
        assertThat(actions.get(0).detail())
                .contains(id.value().toString())
                .doesNotContain("anna@example.org", "555-0199");
    }

    @Test
    void anErasedMessageIsNotHandledAgain() {
        OutboxMessageIdentifier id = secret();
        fail("broken");
        anna.erase(List.of(id));

        assertThat(anna.requeue(List.of(id), Attempts.RESET)).isZero();
        assertThat(anna.requeue(MessageFilter.failed(), Attempts.KEEP)).isZero();
        assertThat(claim(owner, 10)).isEmpty();
    }

    @Test
    void aMillionCharactersAreErasedToo() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("topic", "secret ".repeat(150_000)));
        outbox.cancel(id);

        anna.erase(List.of(id));

        assertThat(stored(workItem(id)).payload()).isEmpty();
    }
}
