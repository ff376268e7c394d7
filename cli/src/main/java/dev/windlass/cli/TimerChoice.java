package dev.windlass.cli;

import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerIdentifier;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** One timer: by its id, or by its topic and key. */
final class TimerChoice {

    @Parameters(
            paramLabel = "ID",
            arity = "0..1",
            converter = Id.class,
            description = "The timer, or name it by its topic and key.")
    private @Nullable TimerIdentifier id;

    @Mixin
    private TimerKey key = new TimerKey();

    void requireOne(OutboxAccess access) {
        key.requireOneWay(access, id != null);
    }

    /** Fails with a sentence when there is none. */
    Timer in(OutboxSession session) {
        return key.isGiven()
                ? key.in(session)
                : session.windlass().timers().find(id()).orElseThrow(() -> missing(session, id()));
    }

    private TimerIdentifier id() {
        return Objects.requireNonNull(id);
    }

    /** A timer that was due has left its id to the message it became. */
    static CommandFailure missing(OutboxSession session, TimerIdentifier id) {
        String noun = "a timer with id " + id.value();
        return WorkQueue.isMessage(session, id.value())
                ? new CommandFailure("expected " + noun + ", but it was due and became a message; look at it with"
                        + " 'windlass outbox show " + id.value() + "'")
                : unknown(noun);
    }

    static CommandFailure unknown(String noun) {
        return new CommandFailure("expected " + noun
                + ", found none; it may be done or cancelled, or be in another --schema or --table;"
                + " 'windlass timers list' lists those that are left");
    }

    private static final class Id implements ITypeConverter<TimerIdentifier> {
        @Override
        public TimerIdentifier convert(String value) {
            return new TimerIdentifier(MessageId.uuid("timer", value));
        }
    }
}
