package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.TimerIdentifier;
import java.time.Instant;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a page of timers begins: after one of them, named by the time that the list is ordered by and its id. So it outlives the timer,
 * which may be done before the next page is read.
 */
record TimerPosition(Instant at, TimerIdentifier id) {

    static String of(ListedTimer last) {
        return last.at() + "/" + last.id();
    }

    /** Only its place matters to the list. */
    ListedTimer last() {
        return new ListedTimer(
                id,
                "any",
                WorkStatus.READY,
                Optional.empty(),
                Optional.empty(),
                at,
                at,
                at,
                0,
                0,
                0,
                Optional.empty(),
                false);
    }

    /** Reads TIME/ID. */
    static final class Converter implements ITypeConverter<TimerPosition> {
        @Override
        public TimerPosition convert(String value) {
            int slash = value.indexOf('/');
            if (slash < 0) {
                throw new TypeConversionException(
                        "expected a place such as 2026-08-01T10:00:00Z/0197c3a2-8f10-7abc-9def-0123456789ab, got '"
                                + value + "'");
            }
            return new TimerPosition(
                    new PointInTime().convert(value.substring(0, slash)),
                    new TimerIdentifier(MessageId.uuid("timer", value.substring(slash + 1))));
        }
    }
}
