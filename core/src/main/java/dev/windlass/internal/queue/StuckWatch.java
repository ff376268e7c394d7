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
 *
 * <p>It is told when it is found for the second time: what was left by nodes that have all died is reaped meanwhile.
 */
public final class StuckWatch {
    private static final Logger log = LoggerFactory.getLogger(StuckWatch.class);
    private static final long EVERY = Duration.ofMinutes(1).toNanos();
    /** Beyond those that have been told already. */
    private static final int MORE = 1000;

    private static final int MOST = 100_000;
    private static final int MOST_NAMED = 20;

    private final Database database;
    private final QueueKind queue;
    private final Look look;
    private final long every;
    private final Set<String> told = new HashSet<>();
    private Set<String> seen = Set.of();
    private long last;

    public StuckWatch(Database database, QueueKind queue, WorkStore<?> store) {
        this(database, queue, limit -> database.once(connection -> store.stuck(connection, limit)), EVERY);
    }

    StuckWatch(Database database, QueueKind queue, Look look, long every) {
        this.database = database;
        this.queue = queue;
        this.look = look;
        this.every = every;
        this.last = System.nanoTime() - every;
    }

    /** Finds what is stuck. */
    @FunctionalInterface
    public interface Look {
        List<Stuck> stuck(int limit) throws SQLException;
    }

    /** Whether something has been found that is told if it is found again: then somebody should look again soon. */
    public synchronized boolean isInDoubt() {
        return !told.containsAll(seen);
    }

    /** Looks, if it has not for a minute. Changes nothing. */
    public synchronized int look(int unused) throws SQLException {
        if (System.nanoTime() - last >= every) {
            last = System.nanoTime();
            int limit = Math.min(told.size() + MORE, MOST);
            tell(look.stuck(limit), limit);
        }
        return 0;
    }

    private void tell(List<Stuck> found, int limit) {
        Set<String> now = found.stream().map(Stuck::message).collect(Collectors.toSet());
        told.retainAll(now);
        List<Stuck> fresh = found.stream()
                .filter(each -> seen.contains(each.message()) && told.add(each.message()))
                .toList();
        seen = now;
        if (fresh.isEmpty()) {
            return;
        }
        log.warn(
                "[{}] {} messages are in progress far beyond their lease, and nobody takes them back: {}; \"windlass doctor\" tells why",
                database.name(),
                found.size() == limit ? limit + " or more" : found.size(),
                named(fresh));
        fresh.forEach(each -> database.events()
                .tell(new WindlassEvent.StuckFound(database.store(), queue, each.message(), each.leaseUntil())));
    }

    /** Their ids may be those of senders, and are to forge no line. */
    private static String named(List<Stuck> fresh) {
        String first = fresh.stream()
                .limit(MOST_NAMED)
                .map(each -> each.message().replaceAll("[\\p{Cntrl}\\x{2028}\\x{2029}\\x{85}]", "?") + " since "
                        + each.leaseUntil())
                .collect(Collectors.joining(", "));
        return fresh.size() > MOST_NAMED ? first + ", and " + (fresh.size() - MOST_NAMED) + " more" : first;
    }
}
