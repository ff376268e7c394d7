package dev.windlass.event;

/**
 * Hears what happens, on a thread of its own. Who listens to several nodes or fleets is called by one thread for each.
 *
 * <pre>{@code
 * builder.listener(event -> {
 *     if (event instanceof WindlassEvent.DeadLettered dead) {
 *         pager.alert("dead letter " + dead.id() + " of topic " + dead.topic());
 *     }
 * });
 * }</pre>
 *
 * <p>What it throws is logged once, and it hears the next event all the same. While it is busy, events wait for it, fifty thousand of
 * them; those that come after that are left out, which is logged, too.
 */
@FunctionalInterface
public interface WindlassListener {
    void on(WindlassEvent event) throws Exception;
}
