package dev.windlass.internal.queue;

import dev.windlass.internal.database.Proof;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message that a claim took.
 *
 * @param owner the token of that claim
 * @param crashes how often its lease ran out after its handler had been started
 * @param requeues how often an operator made it ready again
 * @param ordered whether it has an ordering key: others may wait for its end
 * @param awaited whether its end may make something ready besides that, as what follows a join
 * @param jobRun whether it is the run of a job
 * @param priority that of the message
 * @param keyed whether it was claimed in the turn of its key, and not in that of its position
 * @param size of its payload, in characters
 * @param waited nanoseconds from when it could be claimed until it was, by the clock of the database; zero if nobody wants to know
 * @param position where it stood among the ready
 * @param proof what the claim tells of earlier ones
 * @param message null if it cannot be read
 * @param problem why it cannot be read, without any of its content
 */
public record Claimed<M>(
        UUID id,
        UUID owner,
        String topic,
        int retryCount,
        int leaseExpiries,
        int crashes,
        int requeues,
        boolean ordered,
        boolean awaited,
        boolean jobRun,
        int priority,
        boolean keyed,
        int size,
        long waited,
        Position position,
        Proof proof,
        @Nullable M message,
        @Nullable String problem) {

    /** The message of one that can be read. */
    public M readable() {
        return Objects.requireNonNull(message);
    }

    /** The same without what is in the message, which may be large. */
    public Claimed<M> withoutContent() {
        return with(waited, null);
    }

    /** The same after so many nanoseconds. */
    public Claimed<M> withWaited(long nanos) {
        return with(nanos, message);
    }

    private Claimed<M> with(long waited, @Nullable M message) {
        return new Claimed<>(
                id,
                owner,
                topic,
                retryCount,
                leaseExpiries,
                crashes,
                requeues,
                ordered,
                awaited,
                jobRun,
                priority,
                keyed,
                size,
                waited,
                position,
                proof,
                message,
                problem);
    }
}
