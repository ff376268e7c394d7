package dev.windlass.join;

import dev.windlass.internal.support.Require;
import org.jspecify.annotations.Nullable;

/**
 * A join to be started.
 *
 * @param expectedSteps how many messages it waits for
 * @param groupingKey what it belongs to, such as a customer or a workflow; up to 255 characters
 * @param metadata any text
 * @param failedByAny whether one failed step makes it failed; else it has completed when all have ended
 * @param followUp what follows; can be said later, too
 */
public record JoinEntry(
        int expectedSteps,
        @Nullable String groupingKey,
        @Nullable String metadata,
        boolean failedByAny,
        @Nullable FollowUp followUp) {

    public JoinEntry {
        Require.positive("number of steps", expectedSteps);
        if (groupingKey != null) {
            Require.name("grouping key", groupingKey, 255);
        }
        if (metadata != null) {
            Require.storable("metadata", metadata);
        }
    }

    /** One that fails if any of its steps does. */
    public static JoinEntry of(int expectedSteps) {
        return new JoinEntry(expectedSteps, null, null, true, null);
    }

    public JoinEntry withGroupingKey(@Nullable String groupingKey) {
        return new JoinEntry(expectedSteps, groupingKey, metadata, failedByAny, followUp);
    }

    public JoinEntry withMetadata(@Nullable String metadata) {
        return new JoinEntry(expectedSteps, groupingKey, metadata, failedByAny, followUp);
    }

    public JoinEntry withFailedByAny(boolean failedByAny) {
        return new JoinEntry(expectedSteps, groupingKey, metadata, failedByAny, followUp);
    }

    public JoinEntry withFollowUp(@Nullable FollowUp followUp) {
        return new JoinEntry(expectedSteps, groupingKey, metadata, failedByAny, followUp);
    }

    /** Without metadata: what may go into a log. */
    @Override
    public String toString() {
        return "JoinEntry[steps=" + expectedSteps + ", groupingKey=" + groupingKey + "]";
    }
}
