package dev.windlass.embedded;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits that are bounded and therefore not interruptible: an interrupted thread can still close its server. */
final class Await {

    private static final long POLL_MILLIS = 5;

    private Await() {}

    /** Returns whether the condition became true within the time. */
    static boolean until(Duration atMost, BooleanSupplier condition) {
        long deadline = System.nanoTime() + atMost.toNanos();
        boolean interrupted = false;
        try {
            while (!condition.getAsBoolean()) {
                if (System.nanoTime() - deadline > 0) {
                    return false;
                }
                interrupted |= !pause();
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean pause() {
        try {
            Thread.sleep(POLL_MILLIS);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }
}
