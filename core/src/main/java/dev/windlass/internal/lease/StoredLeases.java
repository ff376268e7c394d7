package dev.windlass.internal.lease;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.support.LeaseLimits;
import dev.windlass.internal.support.Require;
import dev.windlass.lease.Leadership;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseRequest;
import dev.windlass.lease.LeaseSemaphore;
import dev.windlass.lease.LeaseState;
import dev.windlass.lease.LeasedWork;
import dev.windlass.lease.Leases;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Leases in the database: checks arguments, and passes them on. */
final class StoredLeases implements Leases {
    private final Database database;
    private final LeaseStore store;
    private final Acquirer acquirer;
    private final Election election;
    private final String owner;

    StoredLeases(Database database, LeaseStore store, Acquirer acquirer, Election election, String owner) {
        this.database = database;
        this.store = store;
        this.acquirer = acquirer;
        this.election = election;
        this.owner = owner;
    }

    @Override
    public Optional<Lease> tryAcquire(String name, Duration duration) {
        return once(LeaseClaim.of(name, 0, owner, duration));
    }

    @Override
    public Optional<Lease> tryAcquire(LeaseRequest request) {
        return once(claim(request));
    }

    private LeaseClaim claim(LeaseRequest request) {
        Require.present("lease request", request);
        String asked = request.owner();
        return new LeaseClaim(
                request.name(),
                0,
                asked == null ? owner : asked,
                request.duration(),
                UUID.randomUUID(),
                request.renewAt());
    }

    private Optional<Lease> once(LeaseClaim claim) {
        return acquirer.once(claim).map(lease -> lease);
    }

    @Override
    public Optional<Lease> tryAcquire(String name, Duration duration, Duration waitAtMost) throws InterruptedException {
        return within(LeaseClaim.of(name, 0, owner, duration), waitAtMost);
    }

    @Override
    public Optional<Lease> tryAcquire(LeaseRequest request, Duration waitAtMost) throws InterruptedException {
        return within(claim(request), waitAtMost);
    }

    private Optional<Lease> within(LeaseClaim claim, Duration waitAtMost) throws InterruptedException {
        return acquirer.within(claim, Require.notNegative("time to wait", waitAtMost))
                .map(lease -> lease);
    }

    @Override
    public boolean runIfAcquired(String name, Duration duration, LeasedWork work) throws Exception {
        return runIfAcquired(LeaseClaim.of(name, 0, owner, duration), work);
    }

    private boolean runIfAcquired(LeaseClaim claim, LeasedWork work) throws Exception {
        Require.present("piece of work", work);
        Optional<HeldLease> lease = acquirer.once(claim);
        if (lease.isPresent()) {
            lease.get().run(work);
        }
        return lease.isPresent();
    }

    @Override
    public Optional<LeaseState> find(String name) {
        LeaseLimits.checkName(name);
        return database.retrying("read lease " + name, connection -> store.find(connection, name));
    }

    @Override
    public List<LeaseState> list() {
        return database.retrying("list the leases", store::list);
    }

    @Override
    public LeaseSemaphore semaphore(String name, int permits) {
        LeaseLimits.checkName(name);
        LeaseLimits.checkPermits(permits);
        return new StoredSemaphore(name, permits);
    }

    @Override
    public Leadership lead(String name, Duration duration, LeasedWork work) {
        return election.stand(LeaseClaim.of(name, 0, owner, duration), Require.present("piece of work", work));
    }

    private final class StoredSemaphore implements LeaseSemaphore {
        private final String name;
        private final int permits;

        StoredSemaphore(String name, int permits) {
            this.name = name;
            this.permits = permits;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public int permits() {
            return permits;
        }

        @Override
        public Optional<Lease> tryAcquire(Duration duration) {
            return once(LeaseClaim.of(name, permits, owner, duration));
        }

        @Override
        public Optional<Lease> tryAcquire(Duration duration, Duration waitAtMost) throws InterruptedException {
            return within(LeaseClaim.of(name, permits, owner, duration), waitAtMost);
        }

        @Override
        public boolean runIfAcquired(Duration duration, LeasedWork work) throws Exception {
            return StoredLeases.this.runIfAcquired(LeaseClaim.of(name, permits, owner, duration), work);
        }
    }
}
