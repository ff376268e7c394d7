package dev.windlass.internal.lease;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.lease.Lease;
import dev.windlass.lease.Leases;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common. */
abstract class LeaseConformance {
    /** So long that no test sees its end. */
    static final Duration LONG = Duration.ofMinutes(5);

    /** For leases that are to be lost. */
    static final Duration SHORT = Duration.ofMillis(300);

    /** For leases that are to be renewed, also when the machine is busy with something else for a second. */
    static final Duration STEADY = Duration.ofSeconds(3);

    Leases leases;
    Leases others;

    private EngineDatabase database;

    @BeforeEach
    void startTwoNodes(EngineDatabase database) {
        this.database = database;
        leases = node("node-1").leases();
        others = node("node-2").leases();
    }

    final EngineDatabase database() {
        return database;
    }

    Windlass node(String name) {
        return database().start(builder(name));
    }

    WindlassBuilder builder(String name) {
        return database()
                .windlass()
                .name(name)
                .options(database().options().withBackgroundWorkers(false).withNodeName(name));
    }

    LeaseStore store() {
        return new LeaseStore(database().routines(), "lease");
    }

    Lease acquired(String name) {
        return leases.tryAcquire(name, LONG).orElseThrow();
    }

    /** As if the holder had been silent for the whole lease, for the database. */
    void runOut(String name) {
        database().update("update %s.lease set expires_at = acquired_at where name = ?", name);
    }
}
