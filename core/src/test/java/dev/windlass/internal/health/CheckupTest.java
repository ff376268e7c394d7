package dev.windlass.internal.health;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class CheckupTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    /** The clock says that nearly all of its time is over: it does not begin anew. */
    @Test
    @Timeout(60)
    void whoeverWaitsBehindOneThatIsInterruptedHasNoMoreTimeForThat() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        AtomicLong now = new AtomicLong();
        Workers workers = new Workers();
        CompletableFuture<HealthReport> answer = new CompletableFuture<>();
        Checkup checkup = new Checkup(
                List.of(new NamedCheck("hangs", () -> {
                    never.await();
                    return HealthFinding.healthy("at last");
                })),
                HealthOptions.defaults().withTimeout(TIMEOUT),
                workers,
                Throwable::toString,
                now::get);
        Thread first = new Thread(checkup::report);
        Thread second = new Thread(() -> answer.complete(checkup.report()));
        try {
            first.start();
            eventually().until(() -> first.getState() == Thread.State.TIMED_WAITING);
            second.start();
            eventually().until(() -> second.getState() == Thread.State.BLOCKED);
            now.addAndGet(TIMEOUT.minusMillis(10).toNanos());

            first.interrupt();

            assertThat(answer.get().status()).isEqualTo(HealthStatus.UNHEALTHY);
        } finally {
            never.countDown();
            workers.close();
        }
    }
}
