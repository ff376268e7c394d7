package dev.windlass.base;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * For programs that work on a queue by themselves, without handlers: they take messages for a lease, and say what became of them.
 * Whatever the queue, the verbs are the same. Messages that an owner does not hold are ignored by all of them.
 *
 * @param <M> what is claimed
 * @param <I> what names it
 */
public interface Claims<M, I> {

    /**
     * Takes up to {@code batchSize} messages that are ready and due, of whatever topic is not paused, the oldest of each first.
     *
     * <p>Nobody else gets them until the lease has run out. Take a fresh token for each claim, and {@link #heartbeat} well
     * before the lease ends when the work takes longer.
     *
     * <p>If this call fails, it may have taken some all the same: call {@link #release(OwnerToken)}.
     *
     * @return what was claimed; empty when nothing is ready
     */
    List<M> claim(OwnerToken owner, Duration lease, int batchSize);

    /**
     * Ends messages as done. Returns how many this owner has ended, with this call or before: an ack that is repeated because its
     * answer was lost counts the same, as long as the message is kept.
     */
    int ack(OwnerToken owner, Collection<I> ids);

    /**
     * Returns messages to ready after a failed attempt; they can be claimed again after min(2<sup>retryCount</sup> s, 60 s).
     * Returns how many this owner held.
     */
    int abandon(OwnerToken owner, Collection<I> ids);

    /** The same, with a pause and an error text to remember, of which 2,048 characters are kept. */
    int abandon(OwnerToken owner, Collection<I> ids, Duration delay, String error);

    /** Returns messages to ready at once, without a counted attempt, as when the worker stops. Returns how many it held. */
    int release(OwnerToken owner, Collection<I> ids);

    /**
     * Returns all messages that this owner holds to ready at once, without a counted attempt: for when {@link #claim} has failed,
     * and may have taken some all the same. Returns how many. If the answer of the claim is still on its way, it may be none;
     * call it again a little later.
     */
    int release(OwnerToken owner);

    /**
     * Ends messages as failed, with the reason, of which 2,048 characters are kept. They stay until an operator requeues or purges
     * them. Returns how many this owner held.
     */
    int fail(OwnerToken owner, Collection<I> ids, String error);

    /** The same without a text: what is known of an earlier attempt stays. */
    int fail(OwnerToken owner, Collection<I> ids);

    /**
     * Renews leases that have not run out, from the database's now. Returns how many; fewer than given means that the others are
     * lost, and their handling must stop.
     */
    int heartbeat(OwnerToken owner, Collection<I> ids, Duration lease);

    /**
     * Returns messages whose lease ran out to ready. Returns how many. Nodes with background work do this by themselves.
     * Nothing is reaped in the first lease period after the database server started.
     */
    int reapExpired();
}
