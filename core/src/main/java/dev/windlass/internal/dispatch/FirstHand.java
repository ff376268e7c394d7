package dev.windlass.internal.dispatch;

import dev.windlass.base.TransactionEnd;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.KeepingStore;
import dev.windlass.internal.queue.WorkStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that this node writes and keeps: where it has a place for one, it writes it as claimed by itself. From its commit on the message
 * is in progress here, without a claim, which would be a commit of its own.
 *
 * <p>What has been committed is read before it starts: the transaction may have taken back a part of itself (to a savepoint), or an operator
 * may have decided something about its topic. What this owner holds then, it may handle; that is the same proof as that of a claim. The
 * rest is given back.
 *
 * <p>Nobody else can take what is kept, so little is: a place for each, from before it is written until it is in hand or given back. What
 * cannot be read within a moment, as where handlers use up the pool, is given back on the connection that the node keeps, and nothing more
 * is kept for a while: others take what is written. Thread-safe.
 */
public final class FirstHand<M> {
    private static final Logger log = LoggerFactory.getLogger(FirstHand.class);
    private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_DOUBLINGS = 4;
    private static final Duration MOMENT = Duration.ofMillis(100);
    private static final long REST_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long QUIET_NANOS = Duration.ofMinutes(10).toNanos();
    private static final Duration LONGEST_LATE_CALL = Duration.ofSeconds(1);

    /** So many leases later nobody tells how a transaction has ended. */
    private static final int FORGOTTEN_LEASES = 10;

    private final Duration answer;
    private final Database database;
    private final Database late;
    private final KeepingStore<M> store;
    private final Capacity<M> capacity;
    private final HeartBeat<M> heartBeat;
    private final Intake<M> intake;
    private final Runnable claim;
    private final Duration lease;
    private final Node node;
    private final Loop reading;
    private final Loop givingBack;

    /** One for all: each message gets it once, before anybody else can see it, and never again. */
    private final UUID owner = UUID.randomUUID();

    private final Map<UUID, Place> written = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Place> committed = new ConcurrentLinkedQueue<>();
    private final Set<Place> doubtful = ConcurrentHashMap.newKeySet();
    private volatile long forgotAt = System.nanoTime();
    private volatile long restsUntil = System.nanoTime();
    private volatile long complainedAt = System.nanoTime() - QUIET_NANOS;
    private volatile List<Place> beingRead = List.of();
    private volatile boolean closed;
    private volatile boolean gone;

    /**
     * @param late for what is to be given back after the end of the node
     * @param claim looks for what this node does not hold after all
     */
    FirstHand(
            Database database,
            Database late,
            KeepingStore<M> store,
            Capacity<M> capacity,
            HeartBeat<M> heartBeat,
            Intake<M> intake,
            Runnable claim,
            Duration lease,
            Node node) {
        this.answer = lease.dividedBy(6);
        this.database = database.answeringWithin(answer);
        this.late = late.answeringWithin(LONGEST_LATE_CALL).givingUpLogins(LONGEST_LATE_CALL);
        this.store = store;
        this.capacity = capacity;
        this.heartBeat = heartBeat;
        this.intake = intake;
        this.claim = claim;
        this.lease = lease;
        this.node = node;
        this.reading = new Loop("[" + database.name() + "] reading what was written here", node.workers(), this::read);
        this.givingBack =
                new Loop("[" + database.name() + "] giving back what was written here", node.workers(), this::giveBack);
    }

    /** What a message that is written needs to be in progress here from its commit on. */
    public final class Place {
        private final UUID message;
        private final String topic;
        private final Capacity.Kept kept;
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicBoolean decided = new AtomicBoolean();
        private final Thread writer = Thread.currentThread();
        private volatile long leaseUntil;
        private volatile long committedAt;
        private volatile long askAt;
        private volatile boolean unknown;
        private int asks;

        private Place(UUID message, String topic, Capacity.Kept kept, long now) {
            this.message = message;
            this.topic = topic;
            this.kept = kept;
            this.leaseUntil = now + lease.toNanos();
            this.askAt = now;
        }

        public UUID owner() {
            return owner;
        }

        public Duration lease() {
            return lease;
        }

        /** Its transaction has ended. */
        public void ended(TransactionEnd end) {
            written.remove(message, this);
            if (!over.compareAndSet(false, true)) {
                return;
            }
            committedAt = System.nanoTime();
            if (end == TransactionEnd.ROLLED_BACK) {
                capacity.free(kept);
                return;
            }
            unknown = end == TransactionEnd.UNKNOWN;
            if (closed || unknown) {
                doubt(List.of(this));
                if (gone && doubtful.remove(this)) {
                    releaseLate(this);
                }
            } else {
                capacity.written(kept);
                committed.add(this);
                reading.wake();
                if (gone && decide()) {
                    releaseLate(this);
                }
            }
        }

        /** The database has refused to have it written as kept, as a trigger of the user's may. */
        public void refused() {
            rest();
            ended(TransactionEnd.ROLLED_BACK);
        }

        /** Whether to start it or to give it back is decided once, by who says so first. */
        private boolean decide() {
            return decided.compareAndSet(false, true);
        }

        private boolean isLate() {
            return System.nanoTime() - committedAt > MOMENT.toNanos();
        }

        /** Its transaction was open for long: what is left of its lease is not enough to begin with. */
        private boolean isOld() {
            return leaseUntil - System.nanoTime() < lease.toNanos() / 3 * 2;
        }

        /** Not again at once, and less and less often: the server may commit it later. */
        private boolean isToBeAsked() {
            long now = System.nanoTime();
            if (now - askAt < 0) {
                return false;
            }
            askAt = now + (AGAIN_NANOS << Math.min(asks++, MOST_DOUBLINGS));
            return true;
        }

        private long leaseLeft() {
            return leaseUntil - System.nanoTime();
        }

        private WorkStore.Held held() {
            return new WorkStore.Held(message, owner, false);
        }
    }

    void start() {
        reading.start(Loop.PARKED);
        givingBack.start(Loop.PARKED);
    }

    /**
     * A place for a message that is about to be written; null if there is none, or if others of its topic wait.
     *
     * @param size of its payload, in characters
     */
    public @Nullable Place keep(String topic, UUID message, int size) {
        long now = System.nanoTime();
        if (closed || now - restsUntil < 0) {
            return null;
        }
        Capacity.Kept kept = capacity.keep(topic, size, now, now + lease.toNanos());
        if (kept == null) {
            return null;
        }
        forget(now);
        Place place = new Place(message, topic, kept, now);
        written.put(message, place);
        return place;
    }

    private void rest() {
        restsUntil = System.nanoTime() + REST_NANOS;
    }

    /**
     * The owner that holds a message that this thread has written in a transaction that is still open; null if it is not kept. For any
     * other thread that transaction may have ended meanwhile, and the handler be at work.
     */
    public @Nullable UUID ownerOf(UUID message) {
        Place place = written.get(message);
        return place != null && place.writer == Thread.currentThread() ? owner : null;
    }

    /** These are given back. */
    private void doubt(Collection<Place> places) {
        doubtful.addAll(places);
        for (Place place : places) {
            capacity.free(place.kept);
            capacity.isNotDrained(place.topic);
        }
        givingBack.wake();
    }

    private Duration read() {
        List<Place> places = new ArrayList<>();
        for (Place next; (next = committed.poll()) != null; ) {
            if (capacity.fits(next.kept)) {
                places.add(next);
            } else if (next.decide()) {
                doubt(List.of(next));
            }
        }
        if (!places.isEmpty()) {
            beingRead = places;
            givingBack.wakeWithin(MOMENT);
            take(places);
            beingRead = List.of();
        }
        return Loop.PARKED;
    }

    /** Whatever happens between the commit and the hand, no message is forgotten. */
    private void take(List<Place> places) {
        try {
            heartBeat.open();
            accept(database.once(connection -> kept(connection, places)), places);
        } catch (Throwable e) {
            rest();
            places.forEach(Place::decide);
            doubt(places);
            complain(e);
            return;
        }
        List<Place> missing = places.stream().filter(Place::decide).toList();
        if (!missing.isEmpty()) {
            doubt(missing);
            claim.run(); // it may have been written for any node to claim
        }
    }

    private void accept(List<Claimed<M>> held, List<Place> places) {
        Map<UUID, Place> read = places.stream().collect(Collectors.toMap(place -> place.message, Function.identity()));
        List<Claimed<M>> toStart = new ArrayList<>(held.size());
        Map<UUID, Place> here = new HashMap<>();
        for (Claimed<M> each : held) {
            Place place = Objects.requireNonNull(read.get(each.id()));
            if (place.decide()) {
                toStart.add(each.withWaited(System.nanoTime() - place.committedAt));
                here.put(each.id(), place);
            }
        }
        if (!toStart.isEmpty()) {
            intake.accept(toStart, firstEnd(here.values()));
            here.values().forEach(place -> capacity.free(place.kept));
        }
    }

    /** What may start. What is old is renewed first. */
    private List<Claimed<M>> kept(Connection connection, List<Place> places) throws SQLException {
        List<Place> old = places.stream().filter(Place::isOld).toList();
        if (!old.isEmpty()) {
            renew(connection, old);
        }
        List<UUID> ids = places.stream()
                .filter(place -> !place.isOld())
                .map(place -> place.message)
                .toList();
        return store.kept(connection, owner, ids);
    }

    private void renew(Connection connection, List<Place> old) throws SQLException {
        long before = System.nanoTime();
        WorkStore.Answer answer = store.heartbeat(connection, held(old), lease);
        old.stream()
                .filter(place -> !answer.lost().contains(place.message)
                        && !answer.locked().contains(place.message))
                .forEach(place -> place.leaseUntil = before + lease.toNanos());
    }

    private static <M> List<WorkStore.Held> held(Collection<FirstHand<M>.Place> places) {
        return places.stream().map(FirstHand<M>.Place::held).toList();
    }

    private static <M> long firstEnd(Collection<FirstHand<M>.Place> places) {
        return places.stream()
                .mapToLong(place -> place.leaseUntil)
                .reduce((a, b) -> a - b < 0 ? a : b)
                .orElseThrow();
    }

    private void complain(Throwable e) {
        long now = System.nanoTime();
        if (now - complainedAt >= QUIET_NANOS) {
            complainedAt = now;
            log.warn(
                    "[{}] could not read what was written here ({}); it is given back, and others are written for any node to claim",
                    database.name(),
                    e instanceof SQLException sql
                            ? database.describe(sql)
                            : e.getClass().getName());
        }
    }

    private Duration giveBack() {
        List<Place> late = Stream.concat(beingRead.stream(), committed.stream())
                .filter(place -> place.isLate() && place.decide())
                .toList();
        if (!late.isEmpty()) {
            rest();
            doubt(late);
        }
        List<Place> due = doubtful.stream().filter(Place::isToBeAsked).toList();
        if (!due.isEmpty()) {
            release(work -> node.call(answer, work), due);
        }
        doubtful.removeIf(place -> place.leaseLeft() <= 0);
        if (!doubtful.isEmpty()) {
            return Duration.ofNanos(AGAIN_NANOS);
        }
        return beingRead.isEmpty() ? Loop.PARKED : MOMENT;
    }

    /** How the database is called. */
    private interface Calling {
        WorkStore.Answer call(Database.Work<WorkStore.Answer> work) throws SQLException;
    }

    /** One that is refused keeps no other. What is not there any more is only asked for again if its commit may still come. */
    private void release(Calling calling, List<Place> places) {
        try {
            WorkStore.Answer answered = calling.call(connection -> store.release(connection, held(places)));
            places.stream()
                    .filter(place -> !answered.locked().contains(place.message)
                            && !(place.unknown && answered.lost().contains(place.message)))
                    .forEach(doubtful::remove);
            if (answered.changed() > 0) {
                claim.run();
            }
        } catch (SQLException | RuntimeException e) {
            log.debug("[{}] could not give back what was written here yet", database.name(), e);
            if (places.size() > 1 && e instanceof SQLException refused && database.isRefusal(refused)) {
                places.forEach(place -> release(calling, List.of(place)));
            }
        }
    }

    /** By the thread that has committed it, which has a connection already: only when nothing else of this node goes on. */
    private void releaseLate(Place place) {
        release(late::once, List.of(place));
    }

    /** Keeps nothing any more. What has been kept is given back while handlers end. */
    void close() {
        closed = true;
    }

    /** The last try, when nothing starts here any more. */
    void giveBackAll() {
        gone = true;
        committed.stream().filter(Place::decide).forEach(doubtful::add);
        if (!doubtful.isEmpty()) {
            release(database::once, List.copyOf(doubtful));
        }
    }

    /** Those of which nobody has told how they ended. */
    private void forget(long now) {
        if (now - forgotAt >= lease.toNanos()) {
            forgotAt = now;
            written.values().removeIf(place -> place.leaseLeft() <= -FORGOTTEN_LEASES * lease.toNanos());
        }
    }

    List<Loop> loops() {
        return List.of(reading, givingBack);
    }
}
