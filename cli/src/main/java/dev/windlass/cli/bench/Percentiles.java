package dev.windlass.cli.bench;

import java.util.Arrays;
import java.util.Locale;

/** Some percentiles of durations in nanoseconds. */
record Percentiles(long p50, long p95, long p99, long max) {

    static Percentiles of(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return new Percentiles(at(sorted, 0.50), at(sorted, 0.95), at(sorted, 0.99), sorted[sorted.length - 1]);
    }

    private static long at(long[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)];
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "p50 %.2f ms   p95 %.2f ms   p99 %.2f ms   max %.2f ms",
                p50 / 1e6,
                p95 / 1e6,
                p99 / 1e6,
                max / 1e6);
    }
}
