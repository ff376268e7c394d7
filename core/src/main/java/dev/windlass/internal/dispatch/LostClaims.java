package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that no claim that was committed is forgotten: if its answer is lost, or cannot be read, what it took is given back.
 *
 * <p>The server may still be at such a claim, and commit it later; that it holds nothing yet proves nothing. So it is asked about
 * again and again, until its lease would have run out. Thread-safe.
 */
final class LostClaims<M> {
    private static final Logger log = LoggerFactory.getLogger(LostClaims.class);
    private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

    /** More of them are asked about less often: a server that breaks connections has enough to do. */
    private static final int FEW = 5;

    private final Database database;
    private final WorkStore<M> store;
    private final Duration lease;
    private final Loop loop;
    private final ReentrantLock giving = new ReentrantLock();
    private final Set<Claim> claims = ConcurrentHashMap.newKeySet();

    /** A claim under way: noted before it is sent, since there may be no memory to do so afterwards. */
    static final class Claim {
        final UUID owner = UUID.randomUUID();
        private boolean sent;
        private @Nullable String problem;
        private long leaseUntil;
        private volatile boolean lost;
        private volatile long askAt;
        private boolean found;

        /** From now on it may be committed. */
        void sent() {
            sent = true;
        }

        boolean wasSent() {
            return sent;
        }
    }

    LostClaims(Database database, WorkStore<M> store, Duration lease, Workers workers) {
        this.database = database;
        this.store = store;
        this.lease = lease;
        this.loop = new Loop("[" + database.name() + "] giving back lost claims", workers, this::giveBack);
    }

    void start() {
        loop.start();
    }

    /** A claim is about to be made. */
    Claim begin() {
        Claim claim = new Claim();
        claims.add(claim);
        return claim;
    }

    /** What it took is in hand, or it took nothing. */
    void arrived(Claim claim) {
        claims.remove(claim);
    }

    /**
     * What it took, if anything, never reached the hand.
     *
     * @param problem why its only message cannot be read; null if several were asked for, or the answer was lost
     */
    void lost(Claim claim, @Nullable String problem) {
        if (!claim.sent) {
            claims.remove(claim);
            return;
        }
        claim.problem = problem;
        claim.leaseUntil = System.nanoTime() + lease.toNanos();
        claim.askAt = System.nanoTime();
        claim.lost = true;
        loop.wake();
    }

    /** Gives back what can be found now. Returns when to try again; it fails for none, as the next claim is more important. */
    Duration giveBack() {
        if (claims.isEmpty() || !giving.tryLock()) {
            return nextTry();
        }
        try {
            for (Claim claim : claims) {
                if (claim.lost && System.nanoTime() - claim.askAt >= 0) {
                    giveBack(claim);
                }
            }
        } finally {
            giving.unlock();
        }
        return nextTry();
    }

    private void giveBack(Claim claim) {
        try {
            claim.askAt = System.nanoTime() + AGAIN_NANOS * (1 + claims.size() / FEW);
            WorkStore.GivenBack back =
                    database.once(connection -> store.giveBack(connection, claim.owner, claim.problem));
            report(claim, back.given());
            if (back.isNothing() && claim.found) {
                claims.remove(claim);
            }
            claim.found |= !back.isNothing();
        } catch (SQLException | RuntimeException e) {
            log.debug("[{}] could not give back a lost claim yet", database.name(), e);
        }
        if (System.nanoTime() - claim.leaseUntil >= 0) {
            claims.remove(claim);
        }
    }

    private void report(Claim claim, int count) {
        if (count > 0 && claim.problem != null) {
            log.error("[{}] set a message aside: {}", database.name(), claim.problem);
        } else if (count > 0) {
            log.info(
                    "[{}] gave back {} messages of a claim whose answer was lost or could not be read",
                    database.name(),
                    count);
        }
    }

    private Duration nextTry() {
        return claims.stream()
                .filter(claim -> claim.lost)
                .map(claim -> Duration.ofNanos(Math.max(1, claim.askAt - System.nanoTime())))
                .min(Duration::compareTo)
                .orElse(Loop.PARKED);
    }

    Loop loop() {
        return loop;
    }
}
