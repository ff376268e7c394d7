package dev.windlass.base;

/**
 * Turns objects into payload text and back, for typed entries and handlers.
 *
 * <p>Without one, Windlass uses Jackson when it is on the class path. Implementations must be thread-safe.
 */
public interface PayloadCodec {

    String encode(Object value);

    <T> T decode(String payload, Class<T> type);

    /**
     * Makes sure that it can be used. Asked at the start of a program that has typed handlers.
     *
     * @throws WindlassException if it cannot, with what to do
     */
    default void check() {}

    /** What is used where none is given: JSON by Jackson 3 or 2, whichever is on the class path. */
    static PayloadCodec standard() {
        return new DefaultCodec();
    }
}
