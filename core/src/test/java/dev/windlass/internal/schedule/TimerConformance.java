package dev.windlass.internal.schedule;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.schedule.Timers;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common. */
abstract class TimerConformance {
    static final Duration LATER = Duration.ofHours(2);
    static final Instant FAR = Instant.parse("2100-01-01T00:00:00Z");
    static final Instant PAST = Instant.parse("2020-01-01T00:00:00Z");

    /** A node that hands nothing off. */
    Windlass writer;

    Timers timers;

    private EngineDatabase database;

    @BeforeEach
    void startAWriter(EngineDatabase database) {
        this.database = database;
        writer = database()
                .start(database().windlass().options(database().options().withBackgroundWorkers(false)));
        timers = writer.timers();
    }

    final EngineDatabase database() {
        return database;
    }

    /** A node that hands timers off, and has no handlers. */
    Windlass node() {
        return database().start(database().windlass());
    }

    TimerStore store() {
        return new TimerStore(database().routines(), "outbox", "test");
    }

    int handOff(int limit) {
        return handOffResult(limit).count();
    }

    TimerStore.HandedOff handOffResult(int limit) {
        return database()
                .routines()
                .retrying(
                        "hand off",
                        connection -> store().handOff(connection, limit, dev.windlass.internal.queue.Position.START));
    }

    long count(String table) {
        return database().value(Long.class, "select count(*) from %s." + table);
    }
}
