package dev.windlass.internal.dispatch;

import java.time.Duration;

/** What is to be written about an attempt that has ended. */
public sealed interface Outcome {

    record Done() implements Outcome {}

    /** Back to ready for another attempt; {@code counted} says whether this one was used up. */
    record Retry(Duration delay, String error, boolean counted) implements Outcome {}

    record Fail(String error) implements Outcome {}

    /** Back to ready without a counted attempt. */
    record Release() implements Outcome {}
}
