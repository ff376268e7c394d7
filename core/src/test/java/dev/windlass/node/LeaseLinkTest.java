package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.lease.Lease;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** Leases over a network that fails in its own ways. */
@Timeout(60)
final class LeaseLinkTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofSeconds(6);

    private static PGSimpleDataSource through(Link link) {
        PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
        source.setPortNumbers(new int[] {link.port()});
        return source;
    }

    /** The call that hangs is given up in time for another one, on a new connection. */
    @Test
    void aConnectionThatSwallowsEverythingCostsNoLease() throws Exception {
        try (Link link = new Link(database.server().port());
                Windlass windlass = Windlass.on(through(link))
                        .options(database.options().withBackgroundWorkers(false))
                        .start()) {
            Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow();
            Instant first = lease.expiresAt();
            eventually().until(() -> lease.expiresAt().isAfter(first));
            Instant second = lease.expiresAt();

            link.freeze();

            eventually().until(() -> lease.expiresAt().isAfter(second));
            assertThat(lease.isLost()).isFalse();
        }
    }

    @Test
    void connectionsThatAreCutCostNoLease() throws Exception {
        try (Link link = new Link(database.server().port());
                Windlass windlass = Windlass.on(through(link))
                        .options(database.options().withBackgroundWorkers(false))
                        .start()) {
            Lease lease = windlass.leases().tryAcquire("a", LEASE).orElseThrow();
            Instant first = lease.expiresAt();
            eventually().until(() -> lease.expiresAt().isAfter(first));
            Instant second = lease.expiresAt();

            link.cut();

            eventually().until(() -> lease.expiresAt().isAfter(second));
            assertThat(lease.isLost()).isFalse();
        }
    }
}
