package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Page;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.TimerOperator;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/** What docs/timers.md shows one by one, too small for programs of their own. */
final class TimerRecipes {

    private TimerRecipes() {}

    static WindlassBuilder handling(WindlassBuilder builder, Consumer<String> mailer) {
        // tag::handle
        builder.outboxHandler("reminder.due", message -> mailer.accept(message.payload()));
        // end::handle
        return builder;
    }

    static TimerIdentifier schedule(Windlass windlass, Connection connection, String json) {
        // tag::schedule
        TimerIdentifier reminder =
                windlass.timers().schedule(connection, TimerEntry.of("reminder.due", json, Duration.ofDays(3)));
        // end::schedule
        return reminder;
    }

    static List<TimerIdentifier> many(Windlass windlass, List<String> users, Instant monday) {
        // tag::many
        List<TimerIdentifier> reminders = windlass.timers()
                .scheduleAll(users.stream()
                        .map(user -> TimerEntry.of("reminder.due", user, monday))
                        .toList());
        // end::many
        return reminders;
    }

    static void keepAlive(Windlass windlass, String session) {
        // tag::key
        windlass.timers()
                .schedule(TimerEntry.of("session.expired", session, Duration.ofMinutes(30))
                        .replacing(session));
        // end::key
    }

    static void once(Windlass windlass, String account) {
        // tag::if-absent
        windlass.timers()
                .schedule(TimerEntry.of("digest.due", account, Duration.ofHours(1))
                        .ifAbsent(account));
        // end::if-absent
    }

    static boolean cancel(Windlass windlass, TimerIdentifier reminder, String session) {
        // tag::cancel
        boolean cancelled = windlass.timers().cancel(reminder);
        windlass.timers().cancel("session.expired", session);
        // end::cancel
        return cancelled;
    }

    static boolean postpone(Windlass windlass, TimerIdentifier reminder, Instant tomorrow) {
        // tag::reschedule
        boolean moved = windlass.timers().reschedule(reminder, tomorrow);
        // end::reschedule
        return moved;
    }

    static List<ListedTimer> look(Windlass windlass) {
        // tag::list
        TimerOperator operator = windlass.timers().operator("anna");
        MessageFilter waiting = MessageFilter.all().withStatus(WorkStatus.READY).withTopic("reminder.due");
        Page<ListedTimer> page = operator.list(waiting, 20);
        // end::list
        return page;
    }

    static WindlassBuilder byHand(WindlassBuilder builder) {
        // tag::by-hand
        builder.schedule(ScheduleOptions.defaults().withHandOff(false));
        // end::by-hand
        return builder;
    }

    static void claim(Windlass windlass, Consumer<Timer> work) {
        // tag::claim
        OwnerToken owner = OwnerToken.fresh();
        for (Timer timer : windlass.timers().claim(owner, Duration.ofSeconds(30), 20)) {
            try {
                work.accept(timer);
                windlass.timers().ack(owner, List.of(timer.id()));
            } catch (RuntimeException e) {
                windlass.timers().abandon(owner, List.of(timer.id()));
            }
        }
        // end::claim
    }
}
