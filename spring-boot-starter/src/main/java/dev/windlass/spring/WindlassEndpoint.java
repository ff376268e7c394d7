package dev.windlass.spring;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.health.QueueMeasure;
import dev.windlass.store.StoreState;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * How much there is in the queues, at {@code /actuator/windlass}. Of several databases, that tells which there are and how they are;
 * {@code /actuator/windlass/north} asks one of them. Counting is bounded, and an answer is given again for some seconds.
 */
@Endpoint(id = "windlass")
final class WindlassEndpoint {
    private final ObjectProvider<Windlass> one;
    private final ObjectProvider<Fleet> several;
    private final String name;

    WindlassEndpoint(ObjectProvider<Windlass> one, ObjectProvider<Fleet> several, WindlassProperties properties) {
        this.one = one;
        this.several = several;
        String given = properties.name();
        this.name = given == null ? "windlass" : given;
    }

    @ReadOperation
    Map<String, Object> stores() {
        Map<String, Object> all = new LinkedHashMap<>();
        Fleet fleet = several.getIfAvailable();
        if (fleet == null) {
            all.put(name, measured(one.getObject()));
        } else {
            fleet.stores().forEach(state -> all.put(state.id(), state(state)));
        }
        return Map.of("stores", all);
    }

    /** One of them; nothing, if there is no such store, which is "not found". */
    @ReadOperation
    @Nullable
    Map<String, Object> store(@Selector String store) {
        Fleet fleet = several.getIfAvailable();
        if (fleet == null) {
            return store.equals(name) ? measured(one.getObject()) : null;
        }
        return fleet.stores().stream()
                .filter(state -> state.id().equals(store))
                .findFirst()
                .map(state -> {
                    Map<String, Object> told = state(state);
                    fleet.store(store).ifPresent(windlass -> told.putAll(measured(windlass)));
                    return told;
                })
                .orElse(null);
    }

    private static Map<String, Object> state(StoreState state) {
        Map<String, Object> told = new LinkedHashMap<>();
        boolean away =
                state.status() == StoreState.Status.OPEN && state.problem().isPresent();
        told.put("status", away ? "away" : state.status().name().toLowerCase(Locale.ROOT)); // as health has it
        state.problem().ifPresent(problem -> told.put("problem", problem));
        return told;
    }

    private static Map<String, Object> measured(Windlass windlass) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("running", windlass.isRunning());
        try {
            Map<String, Object> queues = new LinkedHashMap<>();
            windlass.queues()
                    .forEach(queue -> queues.put(queue.queue().name().toLowerCase(Locale.ROOT), counts(queue)));
            told.put("queues", queues);
        } catch (WindlassException e) {
            told.put("problem", String.valueOf(e.getMessage()));
        }
        return told;
    }

    private static Map<String, Object> counts(QueueMeasure queue) {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("ready", queue.ready());
        counts.put("delayed", queue.delayed());
        counts.put("waiting", queue.waiting());
        counts.put("inProgress", queue.inProgress());
        counts.put("failed", queue.failed());
        counts.put("overdue", queue.overdue());
        counts.put("stuck", queue.stuck());
        if (queue.moreTopics()) {
            counts.put("incomplete", true); // at least so many: not all topics could be looked at
        }
        queue.oldestReady().ifPresent(age -> counts.put("oldestReadySeconds", age.toMillis() / 1000.0));
        return counts;
    }
}
