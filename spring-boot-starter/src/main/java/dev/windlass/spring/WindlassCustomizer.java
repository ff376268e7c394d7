package dev.windlass.spring;

import dev.windlass.WindlassBuilder;

/**
 * Says more about the {@link dev.windlass.Windlass} of the application than properties can. A bean; those of several are called in their order,
 * after the properties.
 */
@FunctionalInterface
public interface WindlassCustomizer {
    void customize(WindlassBuilder builder);
}
