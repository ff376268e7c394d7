package dev.windlass.schedule;

import dev.windlass.base.WindlassException;
import java.util.UUID;

/** A job that allows no overlap was triggered while a run of it was unfinished. */
public final class UnfinishedRunException extends WindlassException {
    private static final long serialVersionUID = 1L;

    private final UUID run;

    public UnfinishedRunException(String store, String jobName, UUID run) {
        super("[" + store + "] job \"" + jobName + "\" allows no overlap, and its run " + run
                + " is unfinished; wait until it has ended, or, once it is a message of the outbox, cancel that");
        this.run = run;
    }

    /** The run that is unfinished. */
    public JobRunIdentifier run() {
        return new JobRunIdentifier(run);
    }
}
