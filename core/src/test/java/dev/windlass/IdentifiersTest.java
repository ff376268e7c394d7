package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.OwnerToken;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.TimerIdentifier;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class IdentifiersTest {

    @Test
    void identifiersPrintAsTheyCanBePasted() {
        UUID id = UUID.fromString("0197c3a2-8f10-7abc-9def-0123456789ab");
        assertThat(new Object[] {
                    new OutboxMessageIdentifier(id),
                    new OutboxWorkItemIdentifier(id),
                    new InboxWorkItemIdentifier(id),
                    new TimerIdentifier(id),
                    new JobRunIdentifier(id),
                    new OwnerToken(id)
                })
                .allSatisfy(identifier -> assertThat(identifier).hasToString(id.toString()));
    }
}
