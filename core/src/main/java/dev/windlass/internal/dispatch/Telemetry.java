package dev.windlass.internal.dispatch;

import java.time.Duration;

/** What happens inside, told as it happens; metrics are made of it. Called on hot paths: must be quick and never throw. */
public interface Telemetry {
    Telemetry NONE = new Telemetry() {};

    default void claimed(String store, int messages) {}

    /** A handler ended; {@code outcome} is what is written next. */
    default void handled(String store, String topic, Outcome outcome, Duration took) {}

    /** Outcomes have been written, in one batch. */
    default void written(String store, int outcomes) {}

    default void reaped(String store, int messages) {}

    default void expired(String store, int messages) {}

    default void cleaned(String store, int messages) {}

    /** A topic has begun to rest, or works again. */
    default void circuit(String store, String topic, boolean open) {}

    /** A message arrived again, with other content than the first time. */
    default void contentDiffers(String store, String source) {}

    /** Outcomes that changed nothing, because the lease had gone to somebody else. */
    default void lost(String store, int messages) {}
}
