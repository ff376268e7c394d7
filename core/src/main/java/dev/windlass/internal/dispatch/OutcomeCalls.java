package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.OrderedStore;
import dev.windlass.internal.queue.WorkStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.ObjLongConsumer;

/**
 * The call that writes outcomes of one kind. One that ends messages of ordering keys also takes the next of those keys, if there is
 * room for them. Thread-safe.
 */
final class OutcomeCalls<M> {
    private final Database database;
    private final WorkStore<M> store;
    private final Duration lease;
    private final LostClaims<M> lostClaims;
    private final Capacity<M> capacity;
    private final ObjLongConsumer<List<Claimed<M>>> intake;

    /** What a call came to, and whether it may have left messages ready, now or later. */
    record Written(WorkStore.Answer answer, boolean anyReady) {}

    /**
     * @param intake gets what was taken, and when its lease runs out, by the monotonic clock
     */
    OutcomeCalls(
            Database database,
            WorkStore<M> store,
            Duration lease,
            LostClaims<M> lostClaims,
            Capacity<M> capacity,
            ObjLongConsumer<List<Claimed<M>>> intake) {
        this.database = database;
        this.store = store;
        this.lease = lease;
        this.lostClaims = lostClaims;
        this.capacity = capacity;
        this.intake = intake;
    }

    /**
     * @param same at least one, and all with an outcome of the same kind
     */
    Written write(List<Ended<M>> same) throws SQLException {
        Outcome kind = same.get(0).outcome;
        if (kind instanceof Outcome.Done) {
            return ack(same);
        }
        boolean ordered = same.stream().anyMatch(ended -> ended.held().ordered());
        return new Written(database.once(verb(kind, same)), !(kind instanceof Outcome.Fail) || ordered);
    }

    private Database.Work<WorkStore.Answer> verb(Outcome kind, List<Ended<M>> same) {
        if (kind instanceof Outcome.Retry) {
            List<WorkStore.Failure> failures = same.stream()
                    .map(ended -> ended.failure((Outcome.Retry) ended.outcome))
                    .toList();
            return connection -> store.abandon(connection, failures);
        }
        if (kind instanceof Outcome.Fail) {
            List<WorkStore.Ending> endings = same.stream()
                    .map(ended -> ended.ending((Outcome.Fail) ended.outcome))
                    .toList();
            return connection -> store.fail(connection, endings);
        }
        List<WorkStore.Held> released = held(same);
        return connection -> store.release(connection, released);
    }

    private static <M> List<WorkStore.Held> held(List<Ended<M>> same) {
        return same.stream().map(Ended::held).toList();
    }

    private Written ack(List<Ended<M>> done) throws SQLException {
        List<Ended<M>> left = done.stream().filter(ended -> !ended.isWritten()).toList();
        if (left.isEmpty()) {
            return new Written(WorkStore.Answer.all(done.size()), false);
        }
        Written written = ackOthers(left);
        return new Written(written.answer.and(done.size() - left.size()), written.anyReady);
    }

    /** Nothing is taken with what is in doubt: if that could not be read once, it may not be the second time either. */
    private Written ackOthers(List<Ended<M>> done) throws SQLException {
        List<WorkStore.Held> held = held(done);
        int ordered = (int) held.stream().filter(WorkStore.Held::ordered).count();
        if (ordered > 0
                && store instanceof OrderedStore<M> keys
                && done.stream().noneMatch(Ended::isDoubtful)) {
            Set<String> topics = capacity.takes(ordered);
            if (!topics.isEmpty()) {
                return ackAndTake(keys, held, topics);
            }
        }
        return new Written(database.once(connection -> store.ack(connection, held)), ordered > 0);
    }

    private Written ackAndTake(OrderedStore<M> keys, List<WorkStore.Held> held, Set<String> topics)
            throws SQLException {
        LostClaims.Claim claim = lostClaims.begin();
        try {
            long before = System.nanoTime();
            OrderedStore.Taker taker = new OrderedStore.Taker(claim.owner, lease, topics, capacity.bytesLeft());
            OrderedStore.Acked<M> acked = database.once(connection -> {
                claim.sent();
                return keys.ackAndTake(connection, held, taker);
            });
            if (!acked.taken().isEmpty()) {
                capacity.taken(acked.taken().size());
                intake.accept(acked.taken(), before + lease.toNanos());
            }
            lostClaims.arrived(claim);
            return new Written(acked.answer(), acked.anyReady());
        } catch (Throwable e) {
            lostClaims.lost(claim, null);
            throw e;
        }
    }
}
