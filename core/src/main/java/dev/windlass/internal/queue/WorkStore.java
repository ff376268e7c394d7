package dev.windlass.internal.queue;

import dev.windlass.internal.database.Call;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The verbs of a table of leased work, as the dispatcher needs them. Each call is one round trip. */
public interface WorkStore<M> {

    /**
     * What there is room for in one topic, and from where to look.
     *
     * @param after one position for each priority of the {@link #ranking}
     */
    record Demand(String topic, int places, List<Position> after) {
        public Demand(String topic, int places, Position after) {
            this(topic, places, List.of(after));
        }

        /** Whether it is from the start, for each priority. */
        public boolean isFromStart() {
            return after.stream().allMatch(Position.START::equals);
        }

        public Demand fromStart() {
            return new Demand(
                    topic, places, after.stream().map(any -> Position.START).toList());
        }
    }

    /**
     * A message and the token it was claimed with.
     *
     * @param ordered whether others may wait for its end
     * @param note what its handler tells of it, if that is to be written
     */
    record Held(
            UUID id, UUID owner, boolean ordered, @Nullable Note note) {
        public Held(UUID id, UUID owner, boolean ordered) {
            this(id, owner, ordered, null);
        }
    }

    /**
     * What a verb answers about the messages it was given: each was changed, or is locked by somebody else and has to be asked
     * for again, or is lost: this owner does not hold it any more.
     *
     * @param changed how many were changed
     * @param locked nothing is known of these: ask again, for just these
     * @param lost this owner does not hold these
     * @param cancelled somebody wants these to stop
     */
    record Answer(int changed, Set<UUID> locked, Set<UUID> lost, Set<UUID> cancelled) {
        public Answer(int changed, Set<UUID> locked, Set<UUID> lost) {
            this(changed, locked, lost, Set.of());
        }

        /** So many more were changed. */
        public Answer and(int more) {
            return new Answer(changed + more, locked, lost, cancelled);
        }

        public static Answer all(int changed) {
            return new Answer(changed, Set.of(), Set.of());
        }
    }

    /** A failed attempt: when to try again (null: the default), why it failed, and whether it is used up. */
    record Failure(
            Held held,
            @Nullable Duration retryAfter,
            @Nullable String error,
            boolean counted) {

        public Failure(Held held, @Nullable Duration retryAfter, @Nullable String error) {
            this(held, retryAfter, error, true);
        }

        public UUID id() {
            return held.id();
        }
    }

    /** The last attempt: of which topic, if that is known, and why it failed. */
    record Ending(
            Held held, @Nullable String topic, @Nullable String error) {
        public UUID id() {
            return held.id();
        }
    }

    /**
     * Takes ready messages for a lease.
     *
     * @param bytes with so much payload it has enough, as with {@code limit} messages: whoever gets less knows that there was no
     *     more; so the message that reaches it is taken too, and the first whatever its size
     */
    List<Claimed<M>> claim(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException;

    /** The same one by one: those that the database refuses are left. It fails if all are refused. */
    List<Claimed<M>> claimEach(
            Connection connection, UUID owner, Duration lease, int limit, long bytes, List<Demand> demands)
            throws SQLException;

    /**
     * Gives back all that a claim took whose answer was lost or could not be read: to ready, without blame.
     *
     * @param problem if given, why it cannot be read: then it ends as failed, with this reason
     */
    GivenBack giveBack(Connection connection, UUID owner, @Nullable String problem) throws SQLException;

    /**
     * What was found of a claim.
     *
     * @param given how many are given back
     * @param leftLocked how many are not, since somebody has them locked: ask again
     */
    record GivenBack(int given, int leftLocked) {
        public boolean isNothing() {
            return given + leftLocked == 0;
        }
    }

    /** Writes down that the handlers of these start now: if their lease runs out, that is held against them. */
    Answer start(Connection connection, List<Held> held) throws SQLException;

    Answer ack(Connection connection, List<Held> held) throws SQLException;

    Answer abandon(Connection connection, List<Failure> failures) throws SQLException;

    Answer fail(Connection connection, List<Ending> endings) throws SQLException;

    Answer release(Connection connection, List<Held> held) throws SQLException;

    /** Renews; the lease of those that were changed goes on. */
    Answer heartbeat(Connection connection, List<Held> held, Duration lease) throws SQLException;

    /**
     * Returns to ready what its owner has not renewed; nothing while owners may just not have been able to.
     *
     * @param watched whether the caller does this all the time, so that an interruption tells of an outage
     */
    int reap(Connection connection, Duration quiet, int limit, boolean watched) throws SQLException;

    /** Ends what has expired. */
    int expire(Connection connection, int limit) throws SQLException;

    /**
     * Deletes what was kept long enough.
     *
     * @param after where the call before has ended, so that nobody steps over what it has deleted
     */
    Cleaned clean(Connection connection, int limit, Instant after) throws SQLException;

    /** How many a call has deleted, and how far it has come. */
    record Cleaned(int deleted, Optional<Instant> reached) {}

    /** What else is to be done now and then, by name; only for what a queue has besides its messages. */
    default Map<String, Upkeep> upkeep() {
        return Map.of();
    }

    /** Deletes up to so many rows that nobody needs any more. Returns how many. */
    @FunctionalInterface
    interface Upkeep {
        int run(Connection connection, int limit) throws SQLException;
    }

    /**
     * Something in progress that nobody seems to look after.
     *
     * @param message its id, or whatever else it is known by
     */
    record Stuck(String message, Instant leaseUntil) {}

    /** Those that are in progress far beyond their lease. */
    default List<Stuck> stuck(Connection connection, int limit) throws SQLException {
        return List.of();
    }

    Optional<Duration> nextDue(Connection connection, List<Demand> demands) throws SQLException;

    /**
     * The look that tells what there is to do.
     *
     * @param topics of which to say when something is due; null if nobody wants to know
     * @param others whether to name other topics that have messages
     */
    Call look(Connection connection, @Nullable List<String> topics, boolean others);

    /** What operators have decided about topics. */
    Decided decidedTopics(Connection connection) throws SQLException;

    /**
     * Topics about which operators have decided something.
     *
     * @param paused nobody is to claim these
     * @param limited of these only so many are claimed, over all nodes
     */
    record Decided(Set<String> paused, Set<String> limited) {}

    /**
     * What a message brings along from where it was written.
     *
     * @param headers may hold the context of a trace
     */
    record Origin(Optional<String> correlationId, Map<String, String> headers) {
        public static final Origin NONE = new Origin(Optional.empty(), Map.of());
    }

    default Origin origin(M message) {
        return Origin.NONE;
    }

    /** The priorities of its messages. */
    default Ranking ranking() {
        return Ranking.NONE;
    }
}
