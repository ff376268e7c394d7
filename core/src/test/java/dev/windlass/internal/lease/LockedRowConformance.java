package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.LeaseSemaphore;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.Leases;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows that a transaction of somebody else has locked and keeps: nobody waits for them, and nobody else is harmed. */
@Timeout(120)
@OnEveryEngine
final class LockedRowConformance extends LeaseConformance {
    private static final Duration PATIENT = Duration.ofMinutes(1);
    private static final Duration BRIEF = Duration.ofMillis(400);

    private Connection somebody;

    @BeforeEach
    void connectSomebody() throws SQLException {
        somebody = database().connect();
        somebody.setAutoCommit(false);
    }

    @AfterEach
    void endTheLock() throws SQLException {
        if (!somebody.isClosed()) {
            unlock();
            somebody.close();
        }
    }

    private void lock(String name, int slot) throws SQLException {
        assertThat(database().lock(somebody, "lease", "name = ? and slot = ?", name, slot))
                .isEqualTo(1);
    }

    private void lockSemaphore(String name) throws SQLException {
        assertThat(database().lock(somebody, "lease_semaphore", "name = ?", name))
                .isEqualTo(1);
    }

    private void unlock() throws SQLException {
        somebody.rollback();
    }

    /** In another thread: nobody can interrupt one that waits for a database. */
    private static <T> T withoutWaiting(Callable<T> call) {
        return assertTimeoutPreemptively(Duration.ofSeconds(30), call::call);
    }

    private static void closing(AutoCloseable each) {
        assertTimeoutPreemptively(Duration.ofSeconds(30), each::close);
    }

    private long held() {
        return leases.list().stream().filter(LeaseState::held).count();
    }

    private LeaseSemaphore semaphore(int permits) {
        return leases.semaphore("s", permits);
    }

    private Lease permit(int permits) {
        return semaphore(permits).tryAcquire(LONG).orElseThrow();
    }

    @Test
    void aLeaseWhoseRowIsLockedIsRefusedAtOnceAndGivenAfterwards() throws SQLException {
        acquired("a").close();
        lock("a", 0);

        assertThat(withoutWaiting(() -> others.tryAcquire("a", LONG))).isEmpty();
        unlock();
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void whoeverWaitsForALeaseWhoseRowIsLockedGetsItAfterwards() throws Exception {
        acquired("a").close();
        lock("a", 0);
        CompletableFuture<Optional<Lease>> waiting = CompletableFuture.supplyAsync(() -> awaited("a"));

        assertThat(withoutWaiting(() -> others.tryAcquire("a", LONG, Duration.ofMillis(200))))
                .isEmpty();
        unlock();

        assertThat(waiting.get()).isPresent();
    }

    private Optional<Lease> awaited(String name) {
        try {
            return leases.tryAcquire(name, LONG, PATIENT);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aPermitWhoseRowIsLockedIsTakenAndTheOthersAreGiven() throws SQLException {
        List<Lease> permits = List.of(permit(3), permit(3), permit(3));
        permits.forEach(Lease::close);
        lock("s", 1);

        assertThat(withoutWaiting(() -> semaphore(3).tryAcquire(LONG))).isPresent();
        assertThat(withoutWaiting(() -> semaphore(3).tryAcquire(LONG))).isPresent();
        assertThat(withoutWaiting(() -> semaphore(3).tryAcquire(LONG))).isEmpty();
        unlock();
        assertThat(semaphore(3).tryAcquire(LONG)).isPresent();
        assertThat(semaphore(3).tryAcquire(LONG)).isEmpty();
    }

    @Test
    void aPermitThatRanOutAndIsLockedIsTakenAndAnotherThatRanOutIsGiven() throws SQLException {
        permit(2);
        permit(2);
        runOut("s");
        lock("s", 1);

        assertThat(withoutWaiting(() -> others.semaphore("s", 2).tryAcquire(LONG)))
                .isPresent();
        assertThat(withoutWaiting(() -> others.semaphore("s", 2).tryAcquire(LONG)))
                .isEmpty();
        unlock();
        assertThat(others.semaphore("s", 2).tryAcquire(LONG)).isPresent();
        assertThat(others.semaphore("s", 2).tryAcquire(LONG)).isEmpty();
    }

    /** Nobody can count them; not now is the answer, and whoever waits asks again. */
    @Test
    void aSemaphoreWhoseRowIsLockedGivesNoPermitUntilLater() throws Exception {
        Lease first = permit(2);
        lockSemaphore("s");

        assertThat(withoutWaiting(() -> others.semaphore("s", 2).tryAcquire(LONG)))
                .isEmpty();
        CompletableFuture<Optional<Lease>> waiting =
                CompletableFuture.supplyAsync(() -> awaited(others.semaphore("s", 2)));
        assertThat(first.tryRenewNow()).isTrue();
        unlock();

        assertThat(waiting.get()).isPresent();
    }

    private static Optional<Lease> awaited(LeaseSemaphore semaphore) {
        try {
            return semaphore.tryAcquire(LONG, PATIENT);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aPermitIsGivenBackThoughTheSemaphoreIsLocked() throws SQLException {
        Lease first = permit(1);
        lockSemaphore("s");

        closing(first);

        assertThat(held()).isZero();
    }

    /**
     * Whoever holds the semaphore may be counting, and about to wait: the release tells whoever listens. Leases and polling
     * intervals are long: without the notification, the test would time out.
     */
    @Test
    void whoeverWaitsIsToldOfAReleaseThoughTheSemaphoreIsLocked() throws Exception {
        Leases waiting = database()
                .start(builder("waiting")
                        .options(database()
                                .options()
                                .withBackgroundWorkers(false)
                                .withMaxPollingInterval(Duration.ofMinutes(10))))
                .leases();
        // The first one looks often while it does not listen yet.
        acquired("first");
        assertThat(waiting.tryAcquire("first", LONG, Duration.ofSeconds(2))).isEmpty();
        Lease permit = permit(1);
        CompletableFuture<Optional<Lease>> next =
                CompletableFuture.supplyAsync(() -> awaited(waiting.semaphore("s", 1)));
        eventually()
                .until(() -> database()
                                .value(
                                        Long.class,
                                        "select count(*) from %s.lease_semaphore where awaited_until is not null")
                        == 1);
        lockSemaphore("s");
        closing(permit);
        unlock();

        assertThat(next.get()).isPresent();
    }

    /** The lease is long: without another try, nobody would get it before the test times out. */
    @Test
    void aLeaseWhoseRowIsLockedIsClosedAtOnceAndGivenBackLater() throws Exception {
        Lease lease = acquired("a");
        Lease permit = permit(1);
        lock("a", 0);
        lock("s", 1);

        closing(lease);
        closing(permit);
        assertThat(lease.isLost()).isTrue();
        assertThat(held()).isEqualTo(2);
        unlock();

        eventually().until(() -> held() == 0);
        assertThat(others.tryAcquire("a", LONG)).isPresent();
    }

    @Test
    void aNodeClosesThoughItsRowsAreLocked() throws SQLException {
        Windlass node = node("closing");
        for (int i = 0; i < 50; i++) {
            assertThat(node.leases().tryAcquire("a" + i, LONG)).isPresent();
        }
        assertThat(node.leases().semaphore("s", 1).tryAcquire(LONG)).isPresent();
        for (int i = 0; i < 49; i++) {
            lock("a" + i, 0);
        }
        lock("s", 1);
        lockSemaphore("s");

        closing(node);

        assertThat(held()).isEqualTo(50);
        assertThat(leases.find("a49").orElseThrow().held()).isFalse();
    }

    /** It is neither renewed nor lost; the next try decides. */
    @Test
    void aRenewalAsksAgainForARowThatIsLocked() throws SQLException {
        Leases eager = eager();
        Lease lease = eager.tryAcquire("a", Duration.ofSeconds(30)).orElseThrow();
        lock("a", 0);
        Instant first = lease.expiresAt();
        eventually().until(() -> database().now().isAfter(first.minusSeconds(25)));

        assertThat(lease.expiresAt()).isEqualTo(first);
        assertThat(lease.isLost()).isFalse();
        assertThat(lease.tryRenewNow()).isFalse();
        assertThat(lease.isLost()).isFalse();
        unlock();

        eventually().until(() -> lease.expiresAt().isAfter(first));
    }

    /**
     * A lease so short that one missed renewal costs it: a machine that stands still for a moment may do so, too. So there are
     * several tries, each beside a lock of its own.
     */
    @Test
    void aLockOnOneRowCostsNoOtherLeaseOfTheNode() {
        Leases eager = eager();

        eventually().until(() -> {
            Lease locked = eager.tryAcquire("a", Duration.ofSeconds(20)).orElseThrow();
            lock("a", 0);
            return livesBesideTheLock(eager.tryAcquire("b", BRIEF).orElseThrow(), locked);
        });
        eventually().until(() -> {
            LeaseSemaphore semaphore = eager.semaphore("s", 2);
            Lease locked = semaphore.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
            lock("s", 1);
            return livesBesideTheLock(semaphore.tryAcquire(BRIEF).orElseThrow(), locked);
        });
    }

    /** For as long as it takes until the other is due, and has been asked for several times in vain. */
    private boolean livesBesideTheLock(Lease brief, Lease locked) throws SQLException {
        Instant end = database().now().plusSeconds(5);
        eventually().until(() -> brief.isLost() || database().now().isAfter(end));
        boolean lives = !brief.isLost();
        unlock();
        brief.close();
        locked.close();
        return lives;
    }

    /** A node that renews early, so that a renewal which fails has much time left. */
    private Leases eager() {
        return database()
                .start(builder("eager").leases(LeaseOptions.defaults().withRenewAt(0.1)))
                .leases();
    }

    @Test
    void cleaningLeavesOutWhatIsLocked() throws SQLException {
        for (String name : List.of("a", "b", "c")) {
            acquired(name).close();
        }
        permit(1).close();
        database().update("update %s.lease set expires_at = '2020-01-01T00:00:00Z'");
        database().update("update %s.lease_semaphore set used_at = '2020-01-01T00:00:00Z'");
        lock("b", 0);
        lockSemaphore("s");

        assertThat(withoutWaiting(this::clean)).isEqualTo(3);
        assertThat(leases.list()).extracting(LeaseState::name).containsExactly("b");
        unlock();
        assertThat(clean()).isEqualTo(1);
        assertThat(database().value(Long.class, "select count(*) from %s.lease_semaphore"))
                .isZero();
    }

    private int clean() throws SQLException {
        return database().routines().once(connection -> store().clean(connection, Duration.ofDays(1), 10));
    }
}
