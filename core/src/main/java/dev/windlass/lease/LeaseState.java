package dev.windlass.lease;

import java.time.Instant;

/**
 * What the database knows of a lease, or of one permit of a semaphore.
 *
 * @param name its name
 * @param permit 0 for a lease; for permits of a semaphore their number, from 1
 * @param owner who holds it, or held it last
 * @param fencingToken the token of that owner
 * @param acquiredAt when that owner took it, by the database's clock
 * @param expiresAt until when it holds, or when it ran out or was released, by the database's clock
 * @param held whether it was held when the database was asked
 */
public record LeaseState(
        String name,
        int permit,
        String owner,
        long fencingToken,
        Instant acquiredAt,
        Instant expiresAt,
        boolean held) {}
