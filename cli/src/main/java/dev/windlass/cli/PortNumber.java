package dev.windlass.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the number of a port; 0 stands for any that is free. */
final class PortNumber implements ITypeConverter<Integer> {
    private static final int HIGHEST = 65_535;

    @Override
    public Integer convert(String value) {
        int port = value.matches("\\d{1,5}") ? Integer.parseInt(value) : HIGHEST + 1;
        if (port > HIGHEST) {
            throw new TypeConversionException("expected a port from 0 to 65535, got '" + value + "'");
        }
        return port;
    }
}
