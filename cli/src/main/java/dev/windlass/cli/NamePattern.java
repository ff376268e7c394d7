package dev.windlass.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Names that are alike: a star stands for any text, also for none. */
record NamePattern(String text) {

    /** For SQL, in which other characters have a meaning. */
    String like() {
        return text.replaceAll("[\\\\%_]", "\\\\$0").replace('*', '%');
    }

    static final class Converter implements ITypeConverter<NamePattern> {
        @Override
        public NamePattern convert(String value) {
            if (value.isBlank()) {
                throw new TypeConversionException("expected a pattern such as tenant_*, got blank text");
            }
            return new NamePattern(value);
        }
    }
}
