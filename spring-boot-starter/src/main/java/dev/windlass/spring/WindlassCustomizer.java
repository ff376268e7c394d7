package dev.windlass.spring;

import dev.windlass.WindlassBuilder;

/**
 * Says more about the {@link dev.windlass.Windlass} of the application than properties can. A bean; those of several are called in their order,
 * after the properties. To change an option, change what is there: {@code builder.options(its -> its.withCallRetries(…))}; a new set of options would take
 * the place of the properties.
 */
@FunctionalInterface
public interface WindlassCustomizer {
    void customize(WindlassBuilder builder);
}
