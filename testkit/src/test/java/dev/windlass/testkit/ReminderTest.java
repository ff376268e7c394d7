package dev.windlass.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.TimerEntry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What docs/testing.md quotes. */
// tag::reminder
final class ReminderTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final List<String> mails = new CopyOnWriteArrayList<>();

    @Test
    void remindsAfterThreeDays() {
        Windlass windlass = database.start(
                database.windlass().outboxHandler("reminder.due", message -> mails.add(message.payload())));
        windlass.timers().schedule(TimerEntry.of("reminder.due", "order 7 is not paid", Duration.ofDays(3)));

        database.drain();
        assertThat(mails).isEmpty();

        database.advance(Duration.ofDays(3));
        database.drain();
        assertThat(mails).containsExactly("order 7 is not paid");
        assertThat(database.messages("reminder.due")).allMatch(OutboxMessage::isProcessed);
    }
}
// end::reminder
