package dev.windlass.benchmarks.scenario;

import java.util.Arrays;

/** Of durations, in milliseconds. */
record Percentiles(double p50, double p99) {

    static Percentiles of(long[] nanos) {
        if (nanos.length == 0) {
            throw new IllegalArgumentException("expected at least one duration, got none");
        }
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return new Percentiles(at(sorted, 0.50), at(sorted, 0.99));
    }

    private static double at(long[] sorted, double part) {
        return sorted[(int) Math.ceil(part * sorted.length) - 1] / 1e6;
    }
}
