package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseSemaphore;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Permits, counted over all nodes. */
@OnEveryEngine
final class SemaphoreConformance extends LeaseConformance {

    private static List<Lease> take(LeaseSemaphore semaphore, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> semaphore.tryAcquire(LONG).orElseThrow())
                .toList();
    }

    @Test
    void asManyPermitsAreGivenAsThereAre() {
        LeaseSemaphore semaphore = leases.semaphore("s", 3);
        take(semaphore, 2);

        assertThat(others.semaphore("s", 3).tryAcquire(LONG)).isPresent();
        assertThat(others.semaphore("s", 3).tryAcquire(LONG)).isEmpty();
        assertThat(semaphore.tryAcquire(LONG)).isEmpty();
        assertThat(semaphore.name()).isEqualTo("s");
        assertThat(semaphore.permits()).isEqualTo(3);
    }

    @Test
    void aPermitThatIsGivenBackIsFreeForTheNext() {
        LeaseSemaphore semaphore = leases.semaphore("s", 2);
        List<Lease> permits = take(semaphore, 2);

        permits.get(0).close();

        assertThat(others.semaphore("s", 2).tryAcquire(LONG)).isPresent();
        assertThat(semaphore.tryAcquire(LONG)).isEmpty();
        assertThat(permits.get(1).tryRenewNow()).isTrue();
    }

    @Test
    void aPermitThatRanOutIsFreeAndItsHolderCannotHaveItBack() {
        List<Lease> permits = take(leases.semaphore("s", 2), 2);
        database().update("update %s.lease set expires_at = acquired_at where name = ? and slot = 1", "s");

        Lease next = others.semaphore("s", 2).tryAcquire(LONG).orElseThrow();

        assertThat(permits.get(0).tryRenewNow()).isFalse();
        permits.get(0).close();
        assertThat(next.tryRenewNow()).isTrue();
        assertThat(permits.get(1).tryRenewNow()).isTrue();
        assertThat(leases.semaphore("s", 2).tryAcquire(LONG)).isEmpty();
    }

    @Test
    void everyPermitHasATokenOfItsOwnThatGrows() {
        LeaseSemaphore semaphore = leases.semaphore("s", 3);

        List<Long> tokens = take(semaphore, 3).stream().map(Lease::fencingToken).toList();
        leases.list();

        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aSemaphoreAndALeaseOfTheSameNameHaveNothingToDoWithEachOther() {
        Lease lease = acquired("s");
        Lease permit = leases.semaphore("s", 1).tryAcquire(LONG).orElseThrow();

        lease.close();
        assertThat(others.semaphore("s", 1).tryAcquire(LONG)).isEmpty();
        assertThat(permit.tryRenewNow()).isTrue();
        permit.close();
        assertThat(others.semaphore("s", 1).tryAcquire(LONG)).isPresent();
    }

    @Test
    void whoeverKnowsASmallerNumberWaitsUntilFewerAreTaken() {
        List<Lease> permits = take(leases.semaphore("s", 5), 4);

        assertThat(others.semaphore("s", 3).tryAcquire(LONG)).isEmpty();
        permits.get(0).close();
        assertThat(others.semaphore("s", 3).tryAcquire(LONG)).isEmpty();
        permits.get(1).close();
        assertThat(others.semaphore("s", 3).tryAcquire(LONG)).isPresent();
        assertThat(others.semaphore("s", 3).tryAcquire(LONG)).isEmpty();
        assertThat(others.semaphore("s", 4).tryAcquire(LONG)).isPresent();
    }

    @Test
    void toAskAgainAfterALostAnswerGivesTheSamePermit() throws SQLException {
        LeaseClaim claim = new LeaseClaim("s", 1, "me", LONG, UUID.randomUUID());

        AcquireAnswer first = database().routines().once(connection -> store().acquire(connection, claim, null));
        AcquireAnswer second = database().routines().once(connection -> store().acquire(connection, claim, LONG));

        assertThat(second.acquired()).isTrue();
        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
        assertThat(others.semaphore("s", 1).tryAcquire(LONG)).isEmpty();
    }

    @Test
    void workRunsUnderAPermit() throws Exception {
        LeaseSemaphore semaphore = leases.semaphore("s", 1);

        assertThat(semaphore.runIfAcquired(
                        LONG,
                        permit -> assertThat(others.semaphore("s", 1).tryAcquire(LONG))
                                .isEmpty()))
                .isTrue();
        take(others.semaphore("s", 1), 1);
        assertThat(semaphore.runIfAcquired(LONG, permit -> {})).isFalse();
    }
}
