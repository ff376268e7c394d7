package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassException;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.Leases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a server of its own, with fsync, that is killed, stopped and started again. */
@Timeout(120)
final class LeaseOutageTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase(EmbeddedPostgres.start(
            EmbeddedPostgres.Options.defaults().withFsync(true).withSetting("synchronous_commit", "on")));

    /** A pool would wait for the server, and the test for the pool. */
    private static WindlassBuilder unpooled() {
        return Windlass.on(database.unpooled()).options(database.options().withBackgroundWorkers(false));
    }

    @Test
    void aLeaseOutlivesAnOutageThatIsShorterThanIt() {
        Leases leases = database.start(unpooled().leases(LeaseOptions.defaults().withRenewAt(0.1)))
                .leases();
        try (Logs logs = Logs.collect(Level.INFO)) {
            Lease lease = leases.tryAcquire("a", Duration.ofSeconds(20)).orElseThrow();
            var first = lease.expiresAt();
            eventually().until(() -> lease.expiresAt().isAfter(first));

            database.server().stop();
            eventually().until(() -> logs.count(Level.WARN, "the database is away") == 1);
            assertThat(lease.isLost()).isFalse();
            assertThat(lease.tryRenewNow()).isFalse();
            assertThat(lease.isLost()).isFalse();
            database.server().restart();

            eventually().until(() -> logs.count(Level.INFO, "the database is back") == 1);
            assertThat(lease.isLost()).isFalse();
            assertThat(lease.tryRenewNow()).isTrue();
            assertThat(leases.tryAcquire("a", Duration.ofSeconds(20))).isEmpty();
            assertThat(logs.at(Level.WARN)).hasSize(1);
        }
    }

    @Test
    void aLeaseIsLostWhenItsTimeRunsOutWhileTheDatabaseIsAway() {
        Leases leases = database.start(unpooled()).leases();
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = leases.tryAcquire("b", Duration.ofSeconds(1)).orElseThrow();
        lease.onLost(told::countDown);

        database.server().stop();
        eventually().until(() -> told.getCount() == 0);
        assertThat(lease.isLost()).isTrue();
        assertThatThrownBy(() -> leases.tryAcquire("b", Duration.ofSeconds(1))).isInstanceOf(WindlassException.class);
        database.server().restart();

        Lease next = leases.tryAcquire("b", Duration.ofSeconds(5)).orElseThrow();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void aLeaderGoesOnAfterAnOutage() {
        Leadership leader = database.passive().leases().lead("c", Duration.ofSeconds(1), lease -> {
            while (!lease.cancellation().isCancelled()) {
                new CountDownLatch(1).await();
            }
        });
        eventually().until(leader::isLeader);

        database.server().stop();
        eventually().until(() -> !leader.isLeader());
        database.server().restart();

        eventually().until(leader::isLeader);
    }

    @Test
    void aServerThatIsKilledRepeatsNoToken() {
        Leases leases = database.passive().leases();
        List<Long> tokens = new ArrayList<>();
        for (int kill = 0; kill < 2; kill++) {
            for (int i = 0; i < 5; i++) {
                try (Lease lease = leases.tryAcquire("d", Duration.ofSeconds(5)).orElseThrow()) {
                    tokens.add(lease.fencingToken());
                }
            }
            database.server().kill();
            database.server().restart();
        }
        tokens.add(leases.tryAcquire("d", Duration.ofSeconds(5)).orElseThrow().fencingToken());

        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }
}
