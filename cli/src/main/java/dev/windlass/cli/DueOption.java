package dev.windlass.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** When something is to be due: at a time, or so long after the database's now. */
final class DueOption {

    @Option(
            names = "--at",
            paramLabel = "TIME",
            converter = PointInTime.class,
            description = "When, such as 2026-08-01T10:00:00Z; in the past means now.")
    private @Nullable Instant at;

    @Option(
            names = "--in",
            paramLabel = "DISTANCE",
            converter = Distance.class,
            description = "How long from now: 90s, 30m, 2h, 7d.")
    private @Nullable Duration in;

    void requireOne(OutboxAccess access) {
        if ((at == null) == (in == null)) {
            throw access.wrongUse("expected --at or --in, got " + (at == null ? "none of them" : "both"));
        }
    }

    Instant time(OutboxSession session) {
        return at != null ? at : session.now().plus(Objects.requireNonNull(in));
    }
}
