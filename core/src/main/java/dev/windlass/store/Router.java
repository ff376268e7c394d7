package dev.windlass.store;

import dev.windlass.internal.support.Require;
import java.util.UUID;

/**
 * Finds what belongs to a key: the outbox of a tenant, say. The same key gets the same instance, as long as its store stays.
 *
 * @param <T> what is found
 */
@FunctionalInterface
public interface Router<T> {
    /**
     * What belongs to this key. One that is just being opened is waited for, a few seconds.
     *
     * @throws UnknownStoreException if no store does
     * @throws dev.windlass.base.WindlassException if its store could not be opened yet
     */
    T get(String key);

    /** The same for a key that is a UUID, in its usual form of small hexadecimal digits. */
    default T get(UUID key) {
        return get(Require.present("key", key).toString());
    }
}
