package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.TestDatabase;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.Leases;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holders in processes of their own, which are killed or stand still. */
@Timeout(120)
final class HolderProcessTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration PATIENT = Duration.ofMinutes(1);

    @BeforeEach
    void createTheResource() throws Exception {
        database.execute("create table %s.resource (token bigint not null, writes integer not null)");
        database.execute("insert into %s.resource values (0, 0)");
        database.execute("grant select, update on %s.resource to windlass_runtime");
    }

    @AfterEach
    void dropTheResource() throws Exception {
        database.execute("drop table %s.resource");
    }

    private static int write(long token) {
        return database.value(
                Integer.class,
                "with written as (update %s.resource set token = ?, writes = writes + 1 where token <= ? returning 1)"
                        + " select count(*)::integer from written",
                token,
                token);
    }

    @Test
    void theLeaseOfAProcessThatIsKilledGoesToTheNextWhenItRunsOut() throws Exception {
        Leases leases = database.passive().leases();
        try (Child holder = Child.start(HolderNode.class, database, Long.toString(LEASE.toMillis()))) {
            eventually().until(() -> holder.said("written"));
            LeaseState before = leases.find("a").orElseThrow();
            assertThat(leases.tryAcquire("a", LEASE)).isEmpty();

            holder.kill();

            Lease next = leases.tryAcquire("a", LEASE, PATIENT).orElseThrow();
            assertThat(next.fencingToken()).isGreaterThan(before.fencingToken());
            assertThat(before.owner()).isEqualTo("child");
            assertThat(holder.said("lost")).isFalse();
        }
    }

    /** The holder does not know that it stood still; its next write is refused all the same, and then it learns of the loss. */
    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no signal there makes a process stand still")
    void aHolderThatStoodStillIsRefusedByTheTokenAndLearnsThatItHasLost() throws Exception {
        Leases leases = database.passive().leases();
        try (Child holder = Child.start(HolderNode.class, database, Long.toString(LEASE.toMillis()))) {
            eventually().until(() -> holder.said("written"));
            holder.freeze();
            Lease next = leases.tryAcquire("a", Duration.ofMinutes(5), PATIENT).orElseThrow();
            assertThat(write(next.fencingToken())).isEqualTo(1);
            int writes = database.value(Integer.class, "select writes from %s.resource");

            holder.thaw();

            eventually().until(() -> holder.said("lost"));
            assertThat(holder.lines()).contains("refused");
            assertThat(database.value(Integer.class, "select writes from %s.resource"))
                    .isEqualTo(writes);
            assertThat(next.tryRenewNow()).isTrue();
            eventually().until(() -> !holder.isAlive());
            assertThat(next.tryRenewNow()).isTrue();
        }
    }
}
