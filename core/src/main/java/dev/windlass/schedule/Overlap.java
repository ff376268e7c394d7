package dev.windlass.schedule;

/** Whether a run of a job may begin while another one is unfinished: ready, in progress, or waiting for a retry. */
public enum Overlap {
    ALLOW,
    /** Ticks that come meanwhile make no run, and are counted with the job. */
    SKIP,
    /** The period of the job counts from the end of the last run: each begins that much after the one before has ended. */
    DELAY
}
