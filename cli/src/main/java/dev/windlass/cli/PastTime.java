package dev.windlass.cli;

import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time that was given, or a distance back from the database's now, which is known only there. */
record PastTime(UnaryOperator<Instant> fromNow, boolean isRelative) {

    /** Asks for the time only if it matters. */
    Instant at(Supplier<Instant> now) {
        return fromNow.apply(isRelative ? now.get() : Instant.EPOCH);
    }

    /** Reads 2026-08-01T10:00:00Z, 7d, or '7d ago'. */
    static final class Converter implements ITypeConverter<PastTime> {
        @Override
        public PastTime convert(String value) {
            Optional<PastTime> relative = Distance.read(value.replaceFirst(" ago$", ""))
                    .map(distance -> new PastTime(now -> now.minus(distance), true));
            return relative.orElseGet(() -> absolute(value));
        }

        private static PastTime absolute(String value) {
            try {
                Instant at = new PointInTime().convert(value);
                return new PastTime(now -> at, false);
            } catch (TypeConversionException e) {
                throw new TypeConversionException(
                        "expected a time such as 2026-08-01T10:00:00Z, or a distance back from now such as 30m, 2h or 7d,"
                                + " got '" + value + "'");
            }
        }
    }
}
