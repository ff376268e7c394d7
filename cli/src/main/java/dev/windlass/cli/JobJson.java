package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Schedule;
import java.util.Locale;

/** Jobs and their runs for other programs, named as in the library; what is not there is null. */
final class JobJson {

    private JobJson() {}

    static ObjectNode of(JobState job) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("name", job.name())
                .put("topic", job.job().topic());
        putSchedule(json, job.job());
        putMisfire(json, job.job().misfire());
        json.put("overlap", job.job().overlap().name())
                .put("jitter", job.job().jitter().toString())
                .put("nextTick", Json.text(job.nextTick()))
                .put("firesAt", Json.text(job.firesAt()))
                .put("pausedAt", Json.text(job.pausedAt()))
                .put("skippedTicks", job.skippedTicks())
                .put("lastSkippedAt", Json.text(job.lastSkippedAt()))
                .put("problem", Json.text(JobText.problem(job)))
                .put("jobSet", Json.text(job.jobSet()))
                .put("createdAt", job.createdAt().toString())
                .put("updatedAt", job.updatedAt().toString());
        return json.set("lastRun", job.lastRun().map(JobJson::of).orElse(null));
    }

    private static void putSchedule(ObjectNode json, Job job) {
        json.putNull("cron").putNull("description").put("zone", Json.text(JobText.zone(job)));
        json.putNull("period");
        if (job.schedule() instanceof Schedule.Cron cron) {
            json.put("cron", cron.expression().toString());
            json.put("description", cron.expression().describe());
        } else if (job.schedule() instanceof Schedule.Every every) {
            json.put("period", every.period().toString());
        } else if (job.schedule() instanceof Schedule.Unreadable unreadable) {
            json.put("cron", unreadable.cron());
        }
    }

    private static void putMisfire(ObjectNode json, Misfire misfire) {
        json.put("misfire", misfire.getClass().getSimpleName().toUpperCase(Locale.ROOT));
        json.putNull("misfireRuns").putNull("misfireAfter");
        if (misfire instanceof Misfire.All all) {
            json.put("misfireRuns", all.max());
        } else if (misfire instanceof Misfire.Skip skip) {
            json.put("misfireAfter", skip.later().toString());
        }
    }

    static ObjectNode of(JobRun run) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("id", run.id().value().toString())
                .put("jobName", run.jobName())
                .put("tick", run.tick().toString())
                .put("triggered", run.triggered())
                .put("createdAt", run.createdAt().toString())
                .put("startedAt", Json.text(run.startedAt()))
                .put("endedAt", Json.text(run.endedAt()))
                .put("status", run.status().name())
                .put("retryCount", run.retryCount())
                .put("leaseExpiries", run.leaseExpiries())
                .put("lastError", Json.text(run.lastError()))
                .put("handedOff", run.handedOff())
                .put("output", Json.text(run.output()));
    }
}
