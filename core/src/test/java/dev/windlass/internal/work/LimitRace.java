package dev.windlass.internal.work;

import dev.windlass.EngineDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.operator.TopicLimit;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkQueue;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Many who claim from one limited queue, some of whom die with what they have, until all is done; and one who watches. */
final class LimitRace {
    private static final int KEYS = 5;
    private static final int MOST = 6;
    private static final int MOST_OF_A_KEY = 2;
    private static final String QUEUE = "race";

    private final EngineDatabase database;
    private final WorkQueue work;
    private final int items;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger looks = new AtomicInteger();
    private final List<String> violations = Collections.synchronizedList(new ArrayList<>());

    LimitRace(EngineDatabase database, WorkQueue work, int items) {
        this.database = database;
        this.work = work;
        this.items = items;
        work.enqueueAll(IntStream.range(0, items)
                .mapToObj(i -> WorkEntry.of(QUEUE, "type", "item " + i).withKey("key " + i % KEYS))
                .toList());
        work.operator("anna").limit(QUEUE, TopicLimit.none().withRunning(MOST).withPerKey(MOST_OF_A_KEY));
    }

    /** How often somebody has seen what runs. */
    int looks() {
        return looks.get();
    }

    /** What was seen to be too much. */
    List<String> violations() {
        return violations;
    }

    boolean isOver() {
        return done.get() >= items || !violations.isEmpty();
    }

    List<Callable<Boolean>> racers(int count) {
        List<Callable<Boolean>> racers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Random random = new Random(i);
            racers.add(() -> {
                while (!isOver()) {
                    race(random);
                }
                return true;
            });
        }
        racers.add(() -> {
            while (!isOver()) {
                try {
                    watch();
                    looks.incrementAndGet();
                } catch (SQLException e) { // it had the connection of a claim that was to be cut
                    Thread.onSpinWait();
                }
            }
            return true;
        });
        return racers;
    }

    /** A claimer that ends most of what it takes, and dies with the rest: its lease is short, and nobody renews it. */
    private void race(Random random) {
        OwnerToken owner = OwnerToken.fresh();
        boolean dies = random.nextInt(6) == 0;
        try {
            List<WorkItem> items = work.claim(QUEUE, owner, Duration.ofMillis(dies ? 20 : 2000), 1 + random.nextInt(4));
            if (items.isEmpty()) {
                work.reapExpired();
            }
            if (!dies) {
                done.addAndGet(work.ack(owner, items.stream().map(WorkItem::id).toList()));
            }
        } catch (WindlassException e) { // its connection has been cut; its leases run out
            Thread.onSpinWait();
        }
    }

    /** One statement sees one moment. What has a lease at a later one had it then. */
    private void watch() throws SQLException {
        Map<String, List<Instant>> leases = new HashMap<>();
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select turn_key, locked_until from "
                        + database.options().schemaName() + ".work where status = 1")) {
            while (rows.next()) {
                leases.computeIfAbsent(rows.getString(1), key -> new ArrayList<>())
                        .add(rows.getObject(2, OffsetDateTime.class).toInstant());
            }
        }
        Instant later = database.now();
        Map<String, Long> running = new HashMap<>();
        leases.forEach((key, ends) ->
                running.put(key, ends.stream().filter(later::isBefore).count()));
        long all = running.values().stream().mapToLong(count -> count).sum();
        if (all > MOST || running.values().stream().anyMatch(count -> count > MOST_OF_A_KEY)) {
            violations.add(running.toString());
        }
    }
}
