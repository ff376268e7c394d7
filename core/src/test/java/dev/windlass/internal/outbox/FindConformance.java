package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Find. */
@OnEveryEngine
final class FindConformance extends OutboxConformance {

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
        OutboxMessageIdentifier cancelled = enqueue("topic");
        outbox.cancel(cancelled);
        OutboxWorkItemIdentifier ready =
                workItem(outbox.enqueue(OutboxEntry.of("topic", "").withOrderingKey("key")));
        OutboxWorkItemIdentifier waiting =
                workItem(outbox.enqueue(OutboxEntry.of("topic", "").withOrderingKey("key")));

        List<OutboxWorkItemIdentifier> all = List.of(ready, held, done, failed, waiting, workItem(cancelled));
        assertThat(all).extracting(id -> stored(id).status()).containsExactly(WorkStatus.values());
        assertThat(all).extracting(id -> stored(id).id()).isEqualTo(all);
    }

    @Test
    void findingChangesNothing() {
        OutboxWorkItemIdentifier id = workItem(enqueue("topic"));

        assertThat(stored(id)).isEqualTo(stored(id));
        assertThat(claim(OwnerToken.fresh(), 10)).containsExactly(id);
    }
}
