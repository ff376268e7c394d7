package dev.windlass.internal.dispatch;

import dev.windlass.base.TransactionEnd;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.KeepingStore;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that this node writes and keeps: where it has a place for one, it writes it as claimed by itself. From its commit on the message
 * is in progress here, without a claim, which would be a commit of its own.
 *
 * <p>What has been committed is read before it starts: the transaction may have taken back a part of itself (to a savepoint), an operator may
 * have decided something about its topic, or its lease may have run out while the transaction was open. What this owner holds then, it
 * may handle; that is the same proof as that of a claim. The rest is given back.
 *
 * <p>Nobody else can take what is kept, so little is: a place for each, from before it is written until it is in hand or given back. If
 * reading takes longer than a moment, or fails, nothing more is kept for a while, and others take what is written. Thread-safe.
 */
public final class FirstHand<M> {
    private static final Logger log = LoggerFactory.getLogger(FirstHand.class);
    private static final long AGAIN_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_DOUBLINGS = 4;
    private static final long MOMENT_NANOS = Duration.ofMillis(100).toNanos();
    private static final long REST_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long QUIET_NANOS = Duration.ofMinutes(10).toNanos();
    private static final Duration LONGEST_LATE_CALL = Duration.ofSeconds(1);

    /** So many leases later nobody tells how a transaction has ended. */
    private static final int FORGOTTEN_LEASES = 10;

    private final Database database;
    private final Database late;
    private final KeepingStore<M> store;
    private final Capacity<M> capacity;
    private final HeartBeat<M> heartBeat;
    private final Intake<M> intake;
    private final Runnable claim;
    private final Duration lease;
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
    private volatile @Nullable Place beingRead;
    private volatile boolean closed;

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
        this.database = database.answeringWithin(lease.dividedBy(6));
        this.late = late.answeringWithin(LONGEST_LATE_CALL);
        this.store = store;
        this.capacity = capacity;
        this.heartBeat = heartBeat;
        this.intake = intake;
        this.claim = claim;
        this.lease = lease;
        this.reading = new Loop("[" + database.name() + "] reading what was written here", node.workers(), this::read);
        this.givingBack =
                new Loop("[" + database.name() + "] giving back what was written here", node.workers(), this::giveBack);
    }

    /** What a message that is written needs to be in progress here from its commit on. */
    public final class Place {
        private final UUID message;
        private final Capacity.Kept kept;
        private final long leaseUntil;
        private final AtomicBoolean over = new AtomicBoolean();
        private volatile long committedAt;
        private volatile long askAt;
        private int asks;

        private Place(UUID message, Capacity.Kept kept, long now) {
            this.message = message;
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
            if (end == TransactionEnd.ROLLED_BACK) {
                capacity.free(kept);
            } else if (closed) {
                capacity.free(kept);
                releaseLate(this);
            } else if (end == TransactionEnd.COMMITTED) {
                committedAt = System.nanoTime();
                committed.add(this);
                reading.wake();
            } else {
                doubt(List.of(this));
            }
        }

        /** The database has refused to have it written as kept, as a trigger of the user's may. */
        public void refused() {
            rest();
            ended(TransactionEnd.ROLLED_BACK);
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
        if (closed || now - restsUntil < 0 || isReadingLate(now)) {
            return null;
        }
        Capacity.Kept kept = capacity.keep(topic, size, now, now + lease.toNanos());
        if (kept == null) {
            return null;
        }
        forget(now);
        Place place = new Place(message, kept, now);
        written.put(message, place);
        return place;
    }

    /** What waits to be read here is withheld from others. */
    private boolean isReadingLate(long now) {
        return isLate(beingRead, now) || isLate(committed.peek(), now);
    }

    private boolean isLate(@Nullable Place place, long now) {
        return place != null && now - place.committedAt > MOMENT_NANOS;
    }

    private void rest() {
        restsUntil = System.nanoTime() + REST_NANOS;
    }

    /** The owner that holds a message whose transaction is still open, as far as is known here; null if it is not kept. */
    public @Nullable UUID ownerOf(UUID message) {
        return written.containsKey(message) ? owner : null;
    }

    private void doubt(Collection<Place> places) {
        doubtful.addAll(places);
        places.forEach(place -> capacity.free(place.kept));
        givingBack.wake();
    }

    private Duration read() {
        List<Place> places = new ArrayList<>();
        List<Place> old = new ArrayList<>();
        for (Place next; (next = committed.poll()) != null; ) {
            boolean fresh = next.leaseLeft() > lease.toNanos() / 3 * 2; // or its transaction was open for long
            (fresh ? places : old).add(next);
        }
        if (!old.isEmpty()) {
            doubt(old);
        }
        if (!places.isEmpty()) {
            beingRead = places.get(0);
            try {
                take(places);
            } finally {
                beingRead = null;
            }
        }
        return Loop.PARKED;
    }

    /** Whatever happens between the commit and the hand, no message is forgotten. */
    private void take(List<Place> places) {
        List<Claimed<M>> held;
        try {
            heartBeat.open();
            List<UUID> ids = places.stream().map(place -> place.message).toList();
            held = database.once(connection -> store.kept(connection, owner, ids));
            if (!held.isEmpty()) {
                intake.accept(held, firstEnd(places));
            }
        } catch (Throwable e) {
            rest();
            doubt(places);
            complain(e);
            return;
        }
        places.forEach(place -> capacity.free(place.kept));
        Set<UUID> here = held.stream().map(Claimed::id).collect(Collectors.toSet());
        List<Place> missing =
                places.stream().filter(place -> !here.contains(place.message)).toList();
        if (!missing.isEmpty()) {
            doubt(missing);
        }
    }

    private static <M> long firstEnd(List<FirstHand<M>.Place> places) {
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
        List<Place> due = doubtful.stream().filter(Place::isToBeAsked).toList();
        if (!due.isEmpty()) {
            release(database, due);
        }
        doubtful.removeIf(place -> place.leaseLeft() <= 0);
        return doubtful.isEmpty() ? Loop.PARKED : Duration.ofNanos(AGAIN_NANOS);
    }

    private void release(Database by, List<Place> places) {
        try {
            WorkStore.Answer answer = by.once(connection ->
                    store.release(connection, places.stream().map(Place::held).toList()));
            places.stream()
                    .filter(place -> !answer.lost().contains(place.message)
                            && !answer.locked().contains(place.message))
                    .forEach(doubtful::remove);
            if (answer.changed() > 0) {
                claim.run();
            }
        } catch (SQLException | RuntimeException e) {
            log.debug("[{}] could not give back what was written here yet", database.name(), e);
        }
    }

    /** By the thread that has committed it: nothing else of this node goes on. */
    private void releaseLate(Place place) {
        release(late, List.of(place));
    }

    /** Keeps nothing any more. */
    void close() {
        closed = true;
    }

    /** The last try, when nothing starts here any more. */
    void giveBackAll() {
        doubtful.addAll(committed);
        doubtful.forEach(place -> place.askAt = System.nanoTime());
        var unused = giveBack();
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
