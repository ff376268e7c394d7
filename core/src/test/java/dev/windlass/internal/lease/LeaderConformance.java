package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.LeasedWork;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One leader among several nodes. */
@Timeout(60)
@OnEveryEngine
final class LeaderConformance extends LeaseConformance {
    private final List<String> led = new CopyOnWriteArrayList<>();
    private final AtomicInteger leading = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    private LeasedWork work() {
        return lease -> {
            most.accumulateAndGet(leading.incrementAndGet(), Math::max);
            led.add(lease.owner());
            while (!lease.cancellation().isCancelled()) {
                LockSupport.parkNanos(1_000_000);
            }
            leading.decrementAndGet();
        };
    }

    @Test
    void oneOfSeveralNodesLeads() {
        List<Leadership> nodes = Stream.of(leases, others, leases)
                .map(node -> node.lead("a", LONG, work()))
                .toList();

        eventually().until(() -> nodes.stream().anyMatch(Leadership::isLeader) && leading.get() == 1);
        assertThat(nodes).filteredOn(Leadership::isLeader).hasSize(1);
        assertThat(nodes.get(0).name()).isEqualTo("a");
        assertThat(most).hasValue(1);
    }

    /** The lease is long: without the hand-over, nobody would lead before the test times out. */
    @Test
    void whenALeaderIsClosedTheNextNodeLeads() {
        Leadership first = leases.lead("a", LONG, work());
        eventually().until(first::isLeader);
        Leadership second = others.lead("a", LONG, work());

        first.close();
        assertThat(first.isLeader()).isFalse();

        eventually().until(second::isLeader);
        eventually().until(() -> led.size() == 2);
        assertThat(led).containsExactly("node-1", "node-2");
        assertThat(most).hasValue(1);
        first.close();
    }

    @Test
    void whenTheNodeOfTheLeaderIsClosedTheNextNodeLeads() {
        Windlass node = node("closing");
        Leadership first = node.leases().lead("a", LONG, work());
        eventually().until(first::isLeader);
        Leadership second = others.lead("a", LONG, work());

        node.close();

        eventually().until(() -> second.isLeader() && led.size() == 2);
        assertThat(led).containsExactly("closing", "node-2");
        assertThat(most).hasValue(1);
    }

    @Test
    void aNodeThatIsClosedWhileItWaitsNeverLeads() {
        Leadership first = leases.lead("a", LONG, work());
        eventually().until(first::isLeader);
        Leadership second = others.lead("a", LONG, work());
        second.close();
        first.close();

        assertThat(others.tryAcquire("a", LONG)).isPresent();
        assertThat(led).containsExactly("node-1");
    }

    @Test
    void aLeaderWhoseWorkFailsHandsOverAndStandsAgain() {
        AtomicInteger failures = new AtomicInteger();
        LeasedWork broken = lease -> {
            failures.incrementAndGet();
            throw new IllegalStateException("broken");
        };
        leases.lead("a", LONG, broken);

        eventually().until(() -> failures.get() >= 2);
        Leadership second = others.lead("a", LONG, work());
        eventually().until(second::isLeader);
        int before = failures.get();
        assertThat(leases.find("a").orElseThrow().owner()).isEqualTo("node-2");
        second.close();
        eventually().until(() -> failures.get() > before);
    }

    @Test
    void aLeaderThatLosesItsLeaseIsInterruptedAndStandsAgain() {
        AtomicInteger interrupted = new AtomicInteger();
        Leadership leader = leases.lead("a", SHORT, lease -> {
            try {
                new CountDownLatch(1).await();
            } finally {
                interrupted.incrementAndGet();
            }
        });
        eventually().until(leader::isLeader);
        long token = leases.find("a").orElseThrow().fencingToken();
        database().update("update %s.lease set holder = null where name = ?", "a");

        eventually().until(() -> interrupted.get() >= 1);
        eventually().until(leader::isLeader);
        assertThat(leases.find("a").orElseThrow().fencingToken()).isGreaterThan(token);
    }

    @Test
    void aLeaderThatDiesIsFollowedWhenItsLeaseRunsOut() throws Exception {
        LeaseClaim dead = LeaseClaim.of("a", 0, "dead", Duration.ofMillis(500));
        database().routines().once(connection -> store().acquire(connection, dead, null));

        Leadership next = leases.lead("a", LONG, work());

        eventually().until(next::isLeader);
    }

    @Test
    void theWorkOfALeaderCanEndItsLeadership() {
        CountDownLatch stood = new CountDownLatch(1);
        Leadership[] self = new Leadership[1];
        AtomicInteger runs = new AtomicInteger();
        self[0] = leases.lead("a", LONG, lease -> {
            stood.await();
            runs.incrementAndGet();
            self[0].close();
        });
        stood.countDown();

        eventually().until(() -> leases.find("a").filter(state -> !state.held()).isPresent());
        assertThat(others.tryAcquire("a", LONG)).isPresent();
        assertThat(runs).hasValue(1);
    }
}
