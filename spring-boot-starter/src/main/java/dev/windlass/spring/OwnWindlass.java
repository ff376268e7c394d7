package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** A {@link Windlass} or {@link Fleet} that the application has made itself: whether it knows what the application says of it elsewhere. */
final class OwnWindlass {
    private static final Logger log = LoggerFactory.getLogger(OwnWindlass.class);

    private OwnWindlass() {}

    /** The bean of this context that runs messages, by its name; nothing, if it has that of its parent. */
    static Optional<String> in(ConfigurableListableBeanFactory beans) {
        return Stream.of(Windlass.class, Fleet.class)
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, true, false)))
                .findFirst();
    }

    /**
     * Looks whether it was made by {@link WindlassConfigurer}. It is made now, if it has not been: it is started next, anyway.
     *
     * @param handler a bean that handles messages, if there is any
     * @throws UnconfiguredException if it was not, and has handlers that it does not know
     */
    static void check(ConfigurableListableBeanFactory beans, String name, Optional<String> handler) {
        var unused = beans.getBean(name);
        WindlassConfigurer configurer = beans.getBean(WindlassConfigurer.class);
        if (configurer.isUsed()) {
            return;
        }
        if (handler.isPresent() && configurer.isToHandleWork()) {
            throw new UnconfiguredException(name, handler.get());
        }
        log.warn(
                "bean \"{}\" was not made by WindlassConfigurer, so it joins no transactions of Spring's, and knows no properties windlass.*"
                        + " and no beans such as WindlassCustomizer or JobSet",
                name);
    }

    /** Its handlers would not be called, and what is written would be committed by itself, without a word. */
    static final class UnconfiguredException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        static final String ACTION =
                "Take the bean WindlassConfigurer where you make it: configurer.on(dataSource) instead of"
                        + " Windlass.on(dataSource), or configurer.configure(…) around the builder of a Fleet. Or leave it to the"
                        + " starter, and say what is different by a bean of type WindlassCustomizer. If this node is to handle"
                        + " nothing, set windlass.workers=false.";

        UnconfiguredException(String name, String handler) {
            super("bean \"" + handler + "\" handles messages, but bean \"" + name
                    + "\" was not made by WindlassConfigurer: it knows no annotated methods, no properties windlass.* and"
                    + " no transactions of Spring's");
        }
    }
}
