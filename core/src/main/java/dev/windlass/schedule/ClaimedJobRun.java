package dev.windlass.schedule;

/** A run to be handled by a program that claims runs itself, with topic and payload of its job at the time of its tick. */
public record ClaimedJobRun(JobRun run, String topic, String payload) {

    public JobRunIdentifier id() {
        return run.id();
    }

    /** Without payload: what may go into a log. */
    @Override
    public String toString() {
        return "ClaimedJobRun[" + run + ", topic=" + topic + "]";
    }
}
