package dev.windlass.schedule;

import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.Optional;

/**
 * A run of a job as it is now.
 *
 * @param tick the moment it stands for; that of the call if it was triggered
 * @param triggered whether it was made by a call, not by the job's times
 * @param startedAt when the attempt began that is going on, or that ended it; empty while it waits for one
 * @param retryCount how many attempts have failed so far
 * @param leaseExpiries how often its lease ran out
 * @param lastError why the last failed attempt failed
 * @param handedOver whether it became a message of the outbox
 */
public record JobRun(
        JobRunIdentifier id,
        String jobName,
        Instant tick,
        boolean triggered,
        Instant createdAt,
        Optional<Instant> startedAt,
        Optional<Instant> endedAt,
        JobRunStatus status,
        int retryCount,
        int leaseExpiries,
        Optional<String> lastError,
        boolean handedOver) {

    /** The message it became, if it was handed over. The message may be gone: see the retention of the outbox. */
    public Optional<OutboxMessageIdentifier> messageId() {
        return handedOver ? Optional.of(new OutboxMessageIdentifier(id.value())) : Optional.empty();
    }

    /** Without the error: what may go into a log. */
    @Override
    public String toString() {
        return "JobRun[" + id.value() + ", job=" + jobName + ", tick=" + tick + ", status=" + status + "]";
    }
}
