package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;

/** What has become of a message. */
final class Stored {

    private Stored() {}

    static void isDone(Windlass windlass, OutboxMessageIdentifier id) {
        assertThat(message(windlass, id).isProcessed()).isTrue();
    }

    /** Returns why its first attempt failed, after which it waits for a second. */
    static String waitsAfter(Windlass windlass, OutboxMessageIdentifier id) {
        OutboxMessage message = message(windlass, id);
        assertThat(message.status()).isEqualTo(WorkStatus.READY);
        assertThat(message.retryCount()).isEqualTo(1);
        return message.lastError().orElseThrow();
    }

    /** Returns why it has failed for good, in its first attempt. */
    static String hasFailedFor(Windlass windlass, OutboxMessageIdentifier id) {
        OutboxMessage message = message(windlass, id);
        assertThat(message.status()).isEqualTo(WorkStatus.FAILED);
        assertThat(message.retryCount()).isZero();
        return message.lastError().orElseThrow();
    }

    private static OutboxMessage message(Windlass windlass, OutboxMessageIdentifier id) {
        return windlass.outbox().find(id).orElseThrow();
    }
}
