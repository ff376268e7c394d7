package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.Windlass;
import dev.windlass.schedule.JobOperator;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import java.sql.Connection;
import java.time.Instant;
import java.util.UUID;

/** Runs of jobs. */
final class RunQueue extends IdQueue<JobRunIdentifier, JobRun> {

    @Override
    String word() {
        return "runs";
    }

    @Override
    String noun() {
        return "run";
    }

    @Override
    String source() {
        return "are of this job";
    }

    @Override
    JobOperator operator(Windlass windlass, String who) {
        return windlass.jobs().operator(who);
    }

    @Override
    JobRunIdentifier name(UUID id) {
        return new JobRunIdentifier(id);
    }

    @Override
    JobRunIdentifier name(JobRun listed) {
        return listed.id();
    }

    /** Not known of a run. */
    @Override
    boolean isErased(JobRun listed) {
        return false;
    }

    @Override
    boolean cancel(Windlass windlass, Connection connection, JobRunIdentifier name) {
        return windlass.jobs().cancelRun(connection, name);
    }

    @Override
    boolean reschedule(Windlass windlass, Connection connection, JobRunIdentifier name, Instant dueTime) {
        return windlass.jobs().rescheduleRun(connection, name, dueTime);
    }

    @Override
    String notRequeued() {
        return "unknown, not failed, erased, or its message is gone";
    }

    @Override
    boolean isHandedOff() {
        return true;
    }

    @Override
    boolean knows(OutboxSession session, String topic) {
        return KnownTopic.in(session.schema().qualified("_job_run"), session, topic)
                || KnownTopic.ofAJob(session, topic);
    }

    @Override
    String bearers() {
        return "run or job";
    }

    @Override
    String[] heads(String time) {
        return new String[] {"ID", "JOB", "TICK", "STATE", time, "ATTEMPTS", "LOST", "ERROR"};
    }

    @Override
    String[] cells(JobRun run, Instant now) {
        return new String[] {
            run.id().toString(),
            run.jobName(),
            run.triggered() ? "triggered" : Printable.seconds(run.tick()),
            StateName.words(run.status()),
            Printable.seconds(run.at()),
            Integer.toString(JobText.attempts(run)),
            Integer.toString(run.leaseExpiries()),
            run.lastError().orElse("-")
        };
    }

    @Override
    ObjectNode json(JobRun listed) {
        return JobJson.of(listed);
    }
}
