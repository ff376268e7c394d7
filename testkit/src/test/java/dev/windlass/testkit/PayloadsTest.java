package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.outbox.OutboxEntry;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** In a program without Jackson. */
final class PayloadsTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    @Test
    void whatWasEnqueuedCanBeAssertedByItsPayloads() {
        Windlass windlass = database.start(database.windlass());
        windlass.outbox().enqueueAll(List.of(OutboxEntry.of("mail", "ada"), OutboxEntry.of("other", "x")));
        windlass.outbox().enqueue(OutboxEntry.of("mail", "bob"));

        assertThat(database.payloads("mail")).containsExactly("ada", "bob");
        assertThat(database.payloads("none")).isEmpty();
    }

    @Test
    void aTypedHandlerWithoutACodecIsAnErrorAtTheStart() {
        WindlassBuilder outbox = database.windlass().outboxHandler("a", Integer.class, (number, message) -> {});
        WindlassBuilder inbox = database.windlass()
                .inboxHandlerInTransaction(Topic.of("a", Integer.class), (connection, number, message) -> {});

        for (WindlassBuilder builder : List.of(outbox, inbox)) {
            assertThatThrownBy(builder::start)
                    .isInstanceOf(WindlassException.class)
                    .hasMessageContaining("expected a codec for typed payloads, found none; add Jackson");
        }
    }
}
