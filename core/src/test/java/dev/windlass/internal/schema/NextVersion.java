package dev.windlass.internal.schema;

import dev.windlass.internal.schema.Component.Step;
import java.util.List;
import java.util.stream.Stream;

/**
 * The version after this one, as it might be: the outbox has one more column, and its claim one more parameter and one more
 * column. Its files are among the resources of the tests.
 */
final class NextVersion {
    private static final Component NOW = Component.outbox("outbox");

    static final int NUMBER = NOW.version() + 1;

    private NextVersion() {}

    static Component outbox() {
        return outbox(NOW.minCompatible());
    }

    static Component outbox(int minCompatible) {
        return new Component("outbox", "outbox", "outbox", NUMBER, minCompatible, steps());
    }

    private static List<Step> steps() {
        return Stream.concat(
                        NOW.steps().stream(),
                        Stream.of(
                                new Step(NUMBER, "next_outbox_table.sql"),
                                new Step(NUMBER, "next_outbox_routines.sql")))
                .toList();
    }
}
