package dev.windlass.internal.dispatch;

import dev.windlass.base.HandlerOptions;
import dev.windlass.internal.support.Require;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A feature's handlers by topic, as they are registered: one for each topic. */
public final class Handlers<H> {
    private static final int MAX_TOPIC = 255;

    private final String what;
    private final String chosenBy;
    private final Map<String, Registration<H>> registrations = new LinkedHashMap<>();

    private record Registration<H>(H handler, @Nullable HandlerOptions options) {}

    /**
     * @param what what to call one in errors
     */
    public Handlers(String what) {
        this(what, "topic");
    }

    /**
     * @param chosenBy by what they are chosen
     */
    public Handlers(String what, String chosenBy) {
        this.what = what;
        this.chosenBy = chosenBy;
    }

    /** Registers one; without options, those of the feature hold. */
    public void add(String topic, H handler, @Nullable HandlerOptions options) {
        Require.name(chosenBy, topic, MAX_TOPIC);
        Require.present("handler", handler);
        if (registrations.putIfAbsent(topic, new Registration<>(handler, options)) != null) {
            throw new IllegalArgumentException(
                    "expected one " + what + " for " + chosenBy + " " + topic + ", got a second");
        }
    }

    public boolean isEmpty() {
        return registrations.isEmpty();
    }

    public <M> Map<String, Handling<M>> handlings(HandlerOptions defaults, Function<H, Handling.Handler<M>> running) {
        Map<String, Handling<M>> handlings = new LinkedHashMap<>();
        registrations.forEach((topic, registration) -> handlings.put(
                topic,
                new Handling<>(
                        running.apply(registration.handler),
                        registration.options == null ? defaults : registration.options)));
        return handlings;
    }
}
