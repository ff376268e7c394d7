package dev.windlass.join;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * A join as it is now.
 *
 * @param members how many messages or reported steps belong to it so far
 * @param completedSteps how many of them have ended well
 * @param failedSteps how many have failed, expired, been cancelled or purged
 * @param followUpId the id of the message that follows, whichever it is, once it is known that one may
 * @param lastError why it is pending though all steps have ended: what follows was refused, and is tried again
 */
public record Join(
        JoinIdentifier id,
        Optional<String> groupingKey,
        Optional<String> metadata,
        JoinStatus status,
        int expectedSteps,
        int members,
        int completedSteps,
        int failedSteps,
        boolean failedByAny,
        Instant createdAt,
        Instant updatedAt,
        Optional<Instant> endedAt,
        Optional<UUID> followUpId,
        Optional<String> lastError) {

    /** How many steps have not ended. */
    public int openSteps() {
        return expectedSteps - completedSteps - failedSteps;
    }

    /** Without metadata: what may go into a log. */
    @Override
    public String toString() {
        return "Join[" + id + ", " + status + ", " + completedSteps + " + " + failedSteps + " of " + expectedSteps
                + "]";
    }
}
