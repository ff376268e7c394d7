package dev.windlass.spring.test;

import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.Timers;
import java.time.Duration;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class Orders {
    private final Outbox outbox;
    private final Timers timers;

    Orders(Outbox outbox, Timers timers) {
        this.outbox = outbox;
        this.timers = timers;
    }

    @Transactional
    public void place(String order) {
        outbox.enqueue(OutboxEntry.of("order.placed", order));
        timers.schedule(TimerEntry.of("reminder.due", order, Duration.ofDays(3)));
    }
}
