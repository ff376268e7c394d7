package dev.windlass.base;

/**
 * What becomes of a message whose handler goes on for some seconds after its time-out, although it was cancelled and interrupted:
 * Java cannot end it. In both cases the attempt has failed.
 */
public enum Overtime {
    /**
     * The message goes its way without the handler, and the place is given to another. The next attempt may run beside the one
     * that does not stop.
     */
    GIVE_UP,
    /**
     * The message and the place stay with the handler until it returns, however long that takes: no two attempts run at once. A
     * shutdown gives it up all the same.
     */
    HOLD
}
