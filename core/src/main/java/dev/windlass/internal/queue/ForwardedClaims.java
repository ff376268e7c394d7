package dev.windlass.internal.queue;

import dev.windlass.base.Claims;
import dev.windlass.base.OwnerToken;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** For what programs do with a queue beside claiming: the verbs on claims go to whoever has them. */
public abstract class ForwardedClaims<M, I> implements Claims<M, I> {
    private final Claims<M, I> claims;

    protected ForwardedClaims(Claims<M, I> claims) {
        this.claims = claims;
    }

    @Override
    public List<M> claim(OwnerToken owner, Duration lease, int batchSize) {
        return claims.claim(owner, lease, batchSize);
    }

    @Override
    public final int ack(OwnerToken owner, Collection<I> ids) {
        return claims.ack(owner, ids);
    }

    @Override
    public final int abandon(OwnerToken owner, Collection<I> ids) {
        return claims.abandon(owner, ids);
    }

    @Override
    public final int abandon(OwnerToken owner, Collection<I> ids, Duration delay, String error) {
        return claims.abandon(owner, ids, delay, error);
    }

    @Override
    public final int release(OwnerToken owner, Collection<I> ids) {
        return claims.release(owner, ids);
    }

    @Override
    public final int release(OwnerToken owner) {
        return claims.release(owner);
    }

    @Override
    public final int fail(OwnerToken owner, Collection<I> ids) {
        return claims.fail(owner, ids);
    }

    @Override
    public final int fail(OwnerToken owner, Collection<I> ids, String error) {
        return claims.fail(owner, ids, error);
    }

    @Override
    public final int heartbeat(OwnerToken owner, Collection<I> ids, Duration lease) {
        return claims.heartbeat(owner, ids, lease);
    }

    @Override
    public int reapExpired() {
        return claims.reapExpired();
    }
}
