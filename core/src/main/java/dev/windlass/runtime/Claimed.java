package dev.windlass.runtime;

import java.util.UUID;

/**
 * A message that a claim took.
 *
 * @param owner the token of that claim
 * @param requeues how often an operator made it ready again
 * @param ordered whether it has an ordering key: others may wait for its end
 * @param position where it stood among the ready
 * @param claimNumber the number of the claim's transaction
 * @param snapshotXmin the oldest transaction that was running in the claim's snapshot
 */
public record Claimed<M>(
        UUID id,
        UUID owner,
        String topic,
        int retryCount,
        int leaseExpiries,
        int requeues,
        boolean ordered,
        Position position,
        long claimNumber,
        long snapshotXmin,
        M message) {}
