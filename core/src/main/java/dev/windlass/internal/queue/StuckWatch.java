package dev.windlass.internal.queue;

import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.WorkStore.Stuck;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of work that is in progress far beyond its lease, once for each message. As a rule somebody reaps it long before; if nobody can,
 * because a transaction has it locked, or a trigger refuses it, somebody has to know.
 */
public final class StuckWatch {
    private static final Logger log = LoggerFactory.getLogger(StuckWatch.class);
    private static final long EVERY = Duration.ofMinutes(1).toNanos();
    private static final int MOST = 20;

    private final Database database;
    private final QueueKind queue;
    private final WorkStore<?> store;
    private Set<String> told = Set.of();
    private long last = System.nanoTime() - EVERY;

    public StuckWatch(Database database, QueueKind queue, WorkStore<?> store) {
        this.database = database;
        this.queue = queue;
        this.store = store;
    }

    /** Looks, if it has not for a minute. Changes nothing. */
    public synchronized int look(int unused) throws SQLException {
        if (System.nanoTime() - last >= EVERY) {
            last = System.nanoTime();
            tell(database.once(connection -> store.stuck(connection, MOST)));
        }
        return 0;
    }

    private void tell(List<Stuck> found) {
        List<Stuck> fresh =
                found.stream().filter(each -> !told.contains(each.message())).toList();
        told = new HashSet<>(found.stream().map(Stuck::message).toList());
        if (fresh.isEmpty()) {
            return;
        }
        log.warn(
                "[{}] {} messages are in progress far beyond their lease, and nobody takes them back: {}; \"windlass doctor\" tells why",
                database.name(),
                found.size() == MOST ? MOST + " or more" : found.size(),
                fresh.stream()
                        .map(each -> each.message() + " since " + each.leaseUntil())
                        .collect(Collectors.joining(", ")));
        fresh.forEach(each -> database.events()
                .tell(new WindlassEvent.StuckFound(database.store(), queue, each.message(), each.leaseUntil())));
    }
}
