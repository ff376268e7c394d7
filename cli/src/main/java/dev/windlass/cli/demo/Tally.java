package dev.windlass.cli.demo;

import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** What has happened since the start, and how long messages waited since the last line. Thread-safe. */
final class Tally {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    final LongAdder placed = new LongAdder();
    final LongAdder handled = new LongAdder();
    final LongAdder retries = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder asked = new LongAdder();
    final LongAdder counts = new LongAdder();
    final LongAdder reports = new LongAdder();
    private final ConcurrentLinkedQueue<Long> latencies = new ConcurrentLinkedQueue<>();

    void waited(long nanos) {
        latencies.add(nanos);
    }

    String line(LocalTime now, String waiting) {
        return "%s  placed %d  handled %d  waiting %s  retries %d  failed %d  timers %d  job runs %d  reports %d  latency p50 %s"
                .formatted(
                        TIME.format(now),
                        placed.sum(),
                        handled.sum(),
                        waiting,
                        retries.sum(),
                        failed.sum(),
                        asked.sum(),
                        counts.sum(),
                        reports.sum(),
                        median());
    }

    private String median() {
        List<Long> sorted = Stream.generate(latencies::poll)
                .takeWhile(nanos -> nanos != null)
                .sorted()
                .toList();
        return sorted.isEmpty()
                ? "-"
                : String.format(Locale.ROOT, "%.1f ms", sorted.get(sorted.size() / 2) / 1_000_000.0);
    }
}
