package dev.windlass.spring;

import dev.windlass.FleetBuilder;

/**
 * Says more about the {@link dev.windlass.Fleet} of an application with several databases than properties can: which store belongs to a key, which
 * store comes next, checks of its own. A bean; those of several are called in their order, after the properties. What is said of each store is
 * said by a {@link WindlassCustomizer}. To change an option, change what is there: {@code fleet.options(its -> its.withSelection(…))}; a new set of options
 * would take the place of the properties.
 */
@FunctionalInterface
public interface FleetCustomizer {
    void customize(FleetBuilder builder);
}
