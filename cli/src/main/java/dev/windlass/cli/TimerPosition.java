package dev.windlass.cli;

import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerIdentifier;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/**
 * Where a page of timers begins: after one of them, named by its id.
 *
 * @param dueTime with it the position outlives the timer, which may be done before the next page is read
 */
record TimerPosition(TimerIdentifier id, @Nullable Instant dueTime) {

    static String of(Timer timer) {
        return timer.dueTime() + "/" + timer.id().value();
    }

    Timer in(OutboxSession session) {
        if (dueTime != null) {
            return at(id, dueTime);
        }
        return session.windlass()
                .timers()
                .find(id)
                .orElseThrow(() -> new CommandFailure("expected a timer to begin after, but " + id.value()
                        + " is none, or no longer; begin without --after"));
    }

    /** Only time and id matter to the list. */
    private static Timer at(TimerIdentifier id, Instant dueTime) {
        return new Timer(
                id,
                "any",
                "",
                Map.of(),
                Optional.empty(),
                Optional.empty(),
                dueTime,
                dueTime,
                dueTime,
                false,
                false,
                0,
                0,
                Optional.empty());
    }

    /** Reads ID or TIME/ID. */
    static final class Converter implements ITypeConverter<TimerPosition> {
        @Override
        public TimerPosition convert(String value) {
            int slash = value.indexOf('/');
            return new TimerPosition(
                    new TimerIdentifier(MessageId.uuid("timer", value.substring(slash + 1))),
                    slash < 0 ? null : new PointInTime().convert(value.substring(0, slash)));
        }
    }
}
