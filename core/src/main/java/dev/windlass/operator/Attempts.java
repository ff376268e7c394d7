package dev.windlass.operator;

/** Whether what is requeued starts again from its first attempt. */
public enum Attempts {
    RESET,
    /** What had used them up gets one more. */
    KEEP
}
