package dev.windlass.cli;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Waits that end as soon as they can, and give up only when something is broken: slow machines are not a failure. */
final class Eventually {

    private Eventually() {}

    static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(25));
    }
}
