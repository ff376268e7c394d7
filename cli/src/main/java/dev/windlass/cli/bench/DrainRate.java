package dev.windlass.cli.bench;

import dev.windlass.Windlass;
import dev.windlass.runtime.Telemetry;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** How fast a node handles messages that are already there, through the public API, until the last outcome is written. */
final class DrainRate {

    private DrainRate() {}

    static double measure(Bench bench, int messages) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(1);
        AtomicInteger written = new AtomicInteger();
        Telemetry telemetry = new Telemetry() {
            @Override
            public void written(String store, int outcomes) {
                if (written.addAndGet(outcomes) >= messages) {
                    all.countDown();
                }
            }
        };
        long start = System.nanoTime();
        try (Windlass windlass = bench.builder()
                .telemetry(telemetry)
                .outboxHandler(
                        Bench.TOPIC, bench.outbox.handlers(), message -> {})
                .start()) {
            if (!all.await(10, TimeUnit.MINUTES)) {
                throw new IllegalStateException("expected " + messages + " messages, got " + written.get());
            }
            return messages / ((System.nanoTime() - start) / 1e9);
        }
    }
}
