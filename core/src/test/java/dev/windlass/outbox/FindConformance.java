package dev.windlass.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OwnerToken;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Find. */
abstract class FindConformance extends OutboxConformance {

    @Test
    void anUnknownMessageIsNotFound() {
        assertThat(outbox.find(new OutboxMessageIdentifier(UUID.randomUUID()))).isEmpty();
    }

    @Test
    void aMessageIsFoundInEveryState() {
        OwnerToken owner = OwnerToken.fresh();
        OutboxWorkItemIdentifier done = claimed(owner);
        outbox.ack(owner, List.of(done));
        OutboxWorkItemIdentifier failed = claimed(owner);
        outbox.fail(owner, List.of(failed), "no");
        OutboxWorkItemIdentifier held = claimed(owner);
        OutboxWorkItemIdentifier ready = workItem(enqueue("topic"));

        assertThat(List.of(ready, held, done, failed))
                .extracting(id -> stored(id).status())
                .containsExactly(OutboxStatus.values());
        assertThat(List.of(ready, held, done, failed))
                .extracting(id -> stored(id).id())
                .containsExactly(ready, held, done, failed);
    }

    @Test
    void findingChangesNothing() {
        OutboxWorkItemIdentifier id = workItem(enqueue("topic"));

        assertThat(stored(id)).isEqualTo(stored(id));
        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(id);
    }
}
