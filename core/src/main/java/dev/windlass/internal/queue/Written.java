package dev.windlass.internal.queue;

import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Tells of messages that have been written, topic by topic. */
public final class Written {
    private Written() {}

    public static <E> void tell(Database database, QueueKind queue, List<E> entries, Function<E, String> topic) {
        if (!database.events().areHeard()) {
            return;
        }
        Map<String, Integer> counts = new HashMap<>();
        entries.forEach(entry -> counts.merge(topic.apply(entry), 1, Integer::sum));
        counts.forEach((each, count) ->
                database.events().tell(new WindlassEvent.Enqueued(database.store(), queue, each, count)));
    }
}
