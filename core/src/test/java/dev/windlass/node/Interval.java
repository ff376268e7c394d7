package dev.windlass.node;

import dev.windlass.Child;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/** When a handler had a message, in microseconds of the one clock that all processes of this machine share. */
record Interval(UUID id, long from, long to) {

    static Interval begin(UUID id) {
        return new Interval(id, now(), Long.MAX_VALUE);
    }

    Interval end() {
        return new Interval(id, from, now());
    }

    static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    private static Optional<Interval> read(String line) {
        String[] parts = line.split("[\\[\\]=, ]+", -1);
        return line.startsWith("Interval[")
                ? Optional.of(
                        new Interval(UUID.fromString(parts[2]), Long.parseLong(parts[4]), Long.parseLong(parts[6])))
                : Optional.empty();
    }

    /** Those that another process has printed. */
    static List<Interval> printedBy(Child child) {
        return child.lines().stream()
                .map(Interval::read)
                .flatMap(Optional::stream)
                .toList();
    }

    /** The messages that two handlers had at once. */
    static List<UUID> overlaps(Collection<Interval> intervals) {
        Map<UUID, List<Interval>> byId = intervals.stream()
                .sorted(Comparator.comparingLong(Interval::from))
                .collect(Collectors.groupingBy(Interval::id));
        return byId.entrySet().stream()
                .filter(entry -> overlap(entry.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static boolean overlap(List<Interval> sorted) {
        for (int i = 1; i < sorted.size(); i++) {
            if (sorted.get(i).from < sorted.get(i - 1).to) {
                return true;
            }
        }
        return false;
    }
}
