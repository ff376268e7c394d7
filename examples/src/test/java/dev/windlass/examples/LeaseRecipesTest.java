package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.Lease;
import dev.windlass.testkit.WindlassExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class LeaseRecipesTest {
    private static final Duration LEASE = Duration.ofMinutes(1);

    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final AtomicInteger runs = new AtomicInteger();

    @Test
    void workRunsIfNobodyElseRunsIt() throws Exception {
        Windlass windlass = database.start(LeaseRecipes.options(database.windlass()));

        assertThat(LeaseRecipes.run(windlass, runs::incrementAndGet)).isTrue();
        Lease other = windlass.leases().tryAcquire("rebuild-index", LEASE).orElseThrow();
        assertThat(LeaseRecipes.run(windlass, runs::incrementAndGet)).isFalse();
        assertThat(runs).hasValue(1);
        other.close();
    }

    @Test
    void filesAreImportedByOneAtATime() {
        Windlass windlass = database.start(database.windlass());

        assertThat(LeaseRecipes.hold(
                        windlass,
                        List.of(
                                () -> assertThat(LeaseRecipes.holder(windlass)).isNotEqualTo("nobody"),
                                runs::incrementAndGet)))
                .isEqualTo(2);
        assertThat(LeaseRecipes.holder(windlass)).isEqualTo("nobody");
        try (Lease other = windlass.leases().tryAcquire("import", LEASE).orElseThrow()) {
            assertThat(LeaseRecipes.hold(windlass, List.of(runs::incrementAndGet)))
                    .isZero();
            assertThat(LeaseRecipes.holder(windlass)).isEqualTo(other.owner());
        }
    }

    @Test
    void aLeaseIsWaitedFor() throws Exception {
        Windlass windlass = database.start(database.windlass());

        assertThat(LeaseRecipes.await(windlass, runs::incrementAndGet)).isTrue();
        assertThat(LeaseRecipes.semaphore(windlass, runs::incrementAndGet)).isTrue();
        assertThat(runs).hasValue(2);
    }

    @Test
    void aLostLeaseEndsTheProcessItProtects() throws Exception {
        Windlass windlass = database.start(database.windlass());
        Process process = new ProcessBuilder("sleep", "600").start();
        try (Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow()) {
            LeaseRecipes.onLost(lease, process);
            database.advance(Duration.ofHours(1));

            assertThat(lease.tryRenewNow()).isFalse();

            assertThat(process.waitFor()).isNotZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void oneNodeLeads() {
        Windlass first = database.start(database.windlass());
        Windlass second = database.start(database.windlass());
        Leadership one = LeaseRecipes.lead(first, runs::incrementAndGet);
        await().until(() -> one.isLeader() && runs.get() > 0);
        Leadership two = LeaseRecipes.lead(second, runs::incrementAndGet);

        first.close();

        await().until(two::isLeader);
        assertThat(one.isLeader()).isFalse();
    }
}
