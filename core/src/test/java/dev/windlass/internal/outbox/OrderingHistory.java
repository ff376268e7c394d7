package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.EngineDatabase;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What was written under ordering keys and when it was handled, in microseconds of the clock that this machine's processes and
 * its database share; checks afterwards that no message began before all that were committed before it had ended.
 *
 * <p>Messages that an operator made ready again are left out, from then on they come when they come.
 */
public final class OrderingHistory {
    private record Start(UUID id, long at) {}

    private record Row(
            UUID id, String key, boolean blocks, @Nullable Long endedAt) {}

    private final EngineDatabase database;
    private final Map<UUID, Long> committed = new ConcurrentHashMap<>();
    private final Map<UUID, Long> passedOver = new ConcurrentHashMap<>();
    private final Set<UUID> requeued = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedQueue<Start> starts = new ConcurrentLinkedQueue<>();
    private final Map<String, UUID> running = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<String> overlaps = new ConcurrentLinkedQueue<>();

    /** Makes the table that tells the order of commits without the help of the outbox. */
    public OrderingHistory(EngineDatabase database, Collection<String> keys) throws SQLException {
        this.database = database;
        Database routines = database.routines();
        if (!routines.<Boolean>once(
                connection -> routines.dialect().tableExists(connection, routines.schema(), "business"))) {
            database.update("create table %s.business (name varchar(255) primary key, number bigint not null)");
            database.grant("business");
        }
        database.update("delete from %s.business");
        keys.forEach(key -> database.update("insert into %s.business (name, number) values (?, 0)", key));
    }

    public static long now() {
        return micros(Instant.now());
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** The next number of a key, which is the caller's until his transaction ends. */
    public long number(Connection connection, String key) throws SQLException {
        assertThat(database.update(connection, "update %s.business set number = number + 1 where name = ?", key))
                .isEqualTo(1);
        try (PreparedStatement statement =
                connection.prepareStatement("select number from " + table("business") + " where name = ?")) {
            statement.setString(1, key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    public void committed(UUID id, long number) {
        committed.put(id, number);
    }

    /** The how many-th commit of its key wrote this message. */
    public long commit(UUID id) {
        return committed.getOrDefault(id, 0L);
    }

    public int written() {
        return committed.size();
    }

    /** A handler has begun. */
    public void started(UUID id, String key) {
        starts.add(new Start(id, now()));
        UUID other = running.putIfAbsent(key, id);
        if (other != null) {
            overlaps.add(key + ": " + id + " began while " + other + " was being handled");
        }
    }

    /** A handler is about to tell its outcome. */
    public void ending(UUID id, String key) {
        running.remove(key, id);
    }

    public void started(UUID id, long at) {
        starts.add(new Start(id, at));
    }

    /** A failed message has ceased to block its key, at this time or later. */
    public void passedOver(UUID id, long at) {
        passedOver.put(id, at);
    }

    /** A message will have been made ready again by the time an operator's call returns. */
    public void requeued(UUID id) {
        requeued.add(id);
    }

    /** What the order of commits, the order of the sequence and the order of handling have against each other. */
    private List<String> violations() throws SQLException {
        List<String> violations = new ArrayList<>(overlaps);
        Map<String, List<Row>> rows = rows();
        rows.values().forEach(row -> compareWithCommits(row, violations));
        Map<UUID, Long> firstStarts = new HashMap<>();
        starts.forEach(start -> firstStarts.merge(start.id, start.at, Math::min));
        rows.values().forEach(row -> checkStarts(row, firstStarts, violations));
        return violations;
    }

    private void compareWithCommits(List<Row> ofKey, List<String> violations) {
        long last = 0;
        for (Row row : ofKey) {
            Long number = committed.get(row.id);
            if (number == null) {
                continue; // a commit whose answer has not been noted yet
            }
            if (number <= last) {
                violations.add(row.key + ": commit " + number + " has a later sequence than commit " + last);
            }
            last = number;
        }
    }

    private void checkStarts(List<Row> ofKey, Map<UUID, Long> firstStarts, List<String> violations) {
        long allEndedAt = Long.MIN_VALUE;
        UUID latest = null;
        for (Row row : ofKey) {
            if (requeued.contains(row.id)) {
                continue;
            }
            Long start = firstStarts.get(row.id);
            if (start != null && start < allEndedAt) {
                violations.add(row.key + ": " + row.id + " began before " + latest
                        + ", which was committed earlier, had ended");
            }
            long end = end(row);
            if (end > allEndedAt) {
                allEndedAt = end;
                latest = row.id;
            }
        }
    }

    private long end(Row row) {
        Long passed = passedOver.get(row.id);
        if (passed != null) {
            return passed;
        }
        return row.endedAt == null || row.blocks ? Long.MAX_VALUE : row.endedAt;
    }

    /** The messages of each key, in the order of their sequence. Those that were purged are gone, with what they could tell. */
    private Map<String, List<Row>> rows() throws SQLException {
        Map<String, List<Row>> rows = new HashMap<>();
        try (Connection connection = database.connect();
                PreparedStatement statement =
                        connection.prepareStatement("select id, ordering_key, blocks_key, status, ended_at from "
                                + table("outbox") + " where ordering_key is not null order by ordering_sequence");
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                rows.computeIfAbsent(row.getString(2), unused -> new ArrayList<>())
                        .add(new Row(
                                row.getObject(1, UUID.class),
                                row.getString(2),
                                row.getBoolean(3) && row.getInt(4) == 3,
                                Instants.optionalInstant(row, 5)
                                        .map(OrderingHistory::micros)
                                        .orElse(null)));
            }
        }
        return rows;
    }

    private String table(String name) {
        Database routines = database.routines();
        return routines.dialect().quote(routines.schema()) + "." + name;
    }

    public void holds(String run) throws SQLException {
        assertThat(violations()).as(run).isEmpty();
    }
}
