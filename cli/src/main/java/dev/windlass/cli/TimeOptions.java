package dev.windlass.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** From when until when. */
final class TimeOptions {

    @Option(
            names = "--from",
            paramLabel = "TIME",
            converter = PastTime.Converter.class,
            description = "Only what has its time then or later: 2026-08-01T10:00:00Z, or 2h or 7d for so long ago.")
    private @Nullable PastTime from;

    @Option(
            names = "--until",
            paramLabel = "TIME",
            converter = PastTime.Converter.class,
            description = "Only what has its time earlier; written like --from.")
    private @Nullable PastTime until;

    @Nullable
    Instant from(OutboxSession session) {
        return from == null ? null : from.at(session::now);
    }

    @Nullable
    Instant until(OutboxSession session) {
        return until == null ? null : until.at(session::now);
    }

    /** The options that mean the same again later: with times instead of distances. */
    static List<String> words(@Nullable Instant from, @Nullable Instant until) {
        List<String> words = new ArrayList<>();
        if (from != null) {
            words.addAll(List.of("--from", from.toString()));
        }
        if (until != null) {
            words.addAll(List.of("--until", until.toString()));
        }
        return words;
    }
}
