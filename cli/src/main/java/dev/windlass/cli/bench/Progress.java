package dev.windlass.cli.bench;

import java.time.Duration;

/** Tells how far something that takes long has got, now and then. Thread-safe. */
final class Progress {
    private final Report report;
    private final String format;
    private final Duration every;
    private long told = System.nanoTime();
    private int done;

    /**
     * @param format with a place for how many are done
     */
    Progress(Report report, String format, Duration every) {
        this.report = report;
        this.format = format;
        this.every = every;
    }

    synchronized void one() {
        done++;
        if (System.nanoTime() - told >= every.toNanos()) {
            told = System.nanoTime();
            report.say(format, done);
        }
    }
}
