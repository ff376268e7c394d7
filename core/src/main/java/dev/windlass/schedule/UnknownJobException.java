package dev.windlass.schedule;

import dev.windlass.base.WindlassException;

/** There is no job of this name. */
public final class UnknownJobException extends WindlassException {
    private static final long serialVersionUID = 1L;

    private final String jobName;

    public UnknownJobException(String store, String jobName) {
        super("[" + store + "] expected the name of a job, got \"" + jobName
                + "\", which is none; save the job first, or look for its name with jobs().list()");
        this.jobName = jobName;
    }

    public String jobName() {
        return jobName;
    }
}
