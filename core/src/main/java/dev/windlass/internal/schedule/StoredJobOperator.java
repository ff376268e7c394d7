package dev.windlass.internal.schedule;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.StoredOperator;
import dev.windlass.internal.support.Place;
import dev.windlass.schedule.JobOperator;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;

/** The operator's routines of runs, and those of jobs with a name to record. */
final class StoredJobOperator extends StoredOperator<JobRunIdentifier, JobRun> implements JobOperator {
    private static final Kind<JobRunIdentifier, JobRun> RUNS =
            new Kind<>("runs", JobRunIdentifier::value, JobRows::run, last -> Place.at(last.at(), last.id()));

    private final StoredJobs jobs;
    private final String who;

    StoredJobOperator(Database database, String queue, String who, Effects effects, StoredJobs jobs) {
        super(database, queue, who, RUNS, effects);
        this.jobs = jobs;
        this.who = who;
    }

    @Override
    public boolean pauseJob(String name) {
        return jobs.pause(name, who);
    }

    @Override
    public boolean resumeJob(String name) {
        return jobs.resume(name, who);
    }

    @Override
    public void deleteJob(String name) {
        jobs.delete(name, who);
    }

    @Override
    public JobRun triggerJob(String name) {
        return jobs.trigger(name, who);
    }
}
