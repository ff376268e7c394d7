package dev.windlass.spring;

import dev.windlass.FleetBuilder;

/**
 * Says more about the {@link dev.windlass.Fleet} of an application with several databases than properties can: which store belongs to a key, which
 * store comes next, checks of its own. A bean; those of several are called in their order, after the properties. What is said of each store is
 * said by a {@link WindlassCustomizer}.
 */
@FunctionalInterface
public interface FleetCustomizer {
    void customize(FleetBuilder builder);
}
