package dev.windlass.spring;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;

/**
 * Durations in properties and annotations have a unit. A number alone would be milliseconds to Spring Boot: a retention of {@code 30}, meant as
 * days, would delete what was handled a moment ago, and an inbox that has forgotten a message handles it again.
 */
final class Durations implements ConfigurationPropertiesBindHandlerAdvisor {
    private static final ConfigurationPropertyName OURS = ConfigurationPropertyName.of("windlass");
    private static final Pattern NUMBER = Pattern.compile("\\s*[+-]?\\d+\\s*");

    private final Environment environment;

    Durations(Environment environment) {
        this.environment = environment;
    }

    /**
     * What a text means.
     *
     * @throws IllegalArgumentException if it has no unit, or is no duration; the message says what to write
     */
    static Duration parse(String text) {
        requireUnit(text);
        try {
            return DurationStyle.detectAndParse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(expected(text), e);
        }
    }

    /** As one writes it, in the largest unit that it is a whole number of. */
    static String text(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        return Stream.of(ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES, ChronoUnit.SECONDS, ChronoUnit.MILLIS)
                .filter(unit -> duration.equals(whole(duration, unit)))
                .findFirst()
                .map(unit -> DurationStyle.SIMPLE.print(duration, unit))
                .orElse(duration.toString());
    }

    private static Duration whole(Duration duration, ChronoUnit unit) {
        return unit.getDuration().multipliedBy(duration.dividedBy(unit.getDuration()));
    }

    private static void requireUnit(String text) {
        if (NUMBER.matcher(text).matches()) {
            String number = text.strip();
            throw new IllegalArgumentException(expected(number) + "; say which unit is meant, as in " + number + "s");
        }
    }

    private static String expected(String text) {
        return "expected a duration with a unit (ms, s, m, h, d), for example 30s, got " + text;
    }

    /** Looks at what is written when it is bound: of a value that is a duration already, nobody knows whether it had a unit. */
    @Override
    public BindHandler apply(BindHandler others) {
        return new AbstractBindHandler(others) {
            @Override
            public @Nullable Object onSuccess(
                    ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
                ConfigurationProperty property = context.getConfigurationProperty();
                if (result instanceof Duration && OURS.isAncestorOf(name) && property != null) {
                    check(name, environment.resolvePlaceholders(String.valueOf(property.getValue())));
                }
                return super.onSuccess(name, target, context, result);
            }
        };
    }

    private static void check(ConfigurationPropertyName name, String text) {
        try {
            requireUnit(text);
        } catch (IllegalArgumentException e) {
            throw new Given.InvalidPropertyException(name.toString(), text, String.valueOf(e.getMessage()), e);
        }
    }
}
