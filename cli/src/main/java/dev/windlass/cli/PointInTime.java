package dev.windlass.cli;

import java.time.DateTimeException;
import java.time.Instant;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time that says where on earth it is meant: a local one would mean something else on the next machine. */
final class PointInTime implements ITypeConverter<Instant> {

    @Override
    public Instant convert(String value) {
        try {
            return Instant.parse(value);
        } catch (DateTimeException e) {
            throw new TypeConversionException(
                    "expected a time such as 2026-08-01T10:00:00Z or 2026-08-01T12:00:00+02:00, got '" + value + "'");
        }
    }
}
