package dev.windlass.join;

import dev.windlass.internal.support.Require;
import org.jspecify.annotations.Nullable;

/**
 * Which joins are listed.
 *
 * @param groupingKey of this key; null means whatever key, or none
 * @param status in this state; null means in whatever
 */
public record JoinFilter(
        @Nullable String groupingKey, @Nullable JoinStatus status) {

    public JoinFilter {
        if (groupingKey != null) {
            Require.name("grouping key", groupingKey, 255);
        }
    }

    public static JoinFilter all() {
        return new JoinFilter(null, null);
    }

    public JoinFilter withGroupingKey(@Nullable String groupingKey) {
        return new JoinFilter(groupingKey, status);
    }

    public JoinFilter withStatus(@Nullable JoinStatus status) {
        return new JoinFilter(groupingKey, status);
    }
}
