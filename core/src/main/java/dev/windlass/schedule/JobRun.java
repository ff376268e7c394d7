package dev.windlass.schedule;

import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.time.Instant;
import java.util.Optional;

/**
 * A run of a job as it is now.
 *
 * @param tick the moment it stands for; that of the call if it was triggered
 * @param triggered whether it was made by a call, not by the job's times
 * @param startedAt when the attempt began that is going on, or that ended it; empty while it waits for one
 * @param status that of its message, if it was handed off and has not ended
 * @param retryCount how many attempts have failed so far
 * @param leaseExpiries how often its lease ran out
 * @param lastError why the last failed attempt failed
 * @param handedOff whether it became a message of the outbox
 * @param output what its handler wrote down: {@link Jobs#recordOutput}
 * @param at its time in a list of an operator: when a ready run can be claimed or handed off, when the attempt of one in progress
 *     began, when one ended; otherwise when it was created
 */
public record JobRun(
        JobRunIdentifier id,
        String jobName,
        Instant tick,
        boolean triggered,
        Instant createdAt,
        Optional<Instant> startedAt,
        Optional<Instant> endedAt,
        WorkStatus status,
        int retryCount,
        int leaseExpiries,
        Optional<String> lastError,
        boolean handedOff,
        Optional<String> output,
        Instant at) {

    /** The message it became, if it was handed off. The message may be gone: see the retention of the outbox. */
    public Optional<OutboxMessageIdentifier> messageId() {
        return handedOff ? Optional.of(new OutboxMessageIdentifier(id.value())) : Optional.empty();
    }

    /** Without error and output: what may go into a log. */
    @Override
    public String toString() {
        return "JobRun[" + id.value() + ", job=" + jobName + ", tick=" + tick + ", status=" + status + "]";
    }
}
