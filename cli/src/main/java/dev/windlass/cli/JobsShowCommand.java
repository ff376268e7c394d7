package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows one job, and its last run. */
@Command(name = "show", description = "Show a job and its last run, without its payload.")
final class JobsShowCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Option(names = "--payload", description = "Show the payload of its messages too. It may hold personal data.")
    private boolean payload;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        JobState job = choice.in(session);
        if (json) {
            ObjectNode object = JobJson.of(job);
            if (payload) {
                object.put("payload", job.job().payload());
            }
            session.out().println(object);
        } else {
            print(new Sheet(session.out()), job, session.now());
        }
        return 0;
    }

    private void print(Sheet sheet, JobState job, Instant now) {
        Job its = job.job();
        sheet.line("name", job.name());
        sheet.line("schedule", JobText.schedule(its));
        sheet.line("zone", JobText.zone(its));
        sheet.line("topic", Optional.ofNullable(its.topic()));
        sheet.line("next tick", job.nextTick().map(tick -> Span.dated(tick, now) + local(tick, its)));
        if (!its.jitter().equals(Duration.ZERO)) {
            sheet.line("jitter", "up to " + Span.exact(its.jitter()));
        }
        sheet.line("fires at", job.firesAt().filter(at -> !job.nextTick().equals(Optional.of(at))));
        sheet.line("paused since", job.pausedAt());
        sheet.line("misfires", JobText.misfire(its));
        sheet.line("overlaps", JobText.overlap(its));
        sheet.line("skipped ticks", job.skippedTicks());
        sheet.line("last skipped at", job.lastSkippedAt());
        sheet.line("set of jobs", job.jobSet());
        sheet.line("created at", job.createdAt());
        sheet.line("updated at", job.updatedAt());
        job.lastRun().ifPresent(run -> print(sheet, run, now));
        sheet.block("problem", JobText.problem(job));
        if (payload) {
            sheet.block("payload", its.payload());
        }
    }

    private static String local(Instant tick, Job job) {
        return job.schedule() instanceof Schedule.Cron cron
                ? ", there " + tick.atZone(cron.zone()).toLocalDateTime()
                : "";
    }

    private static void print(Sheet sheet, JobRun run, Instant now) {
        sheet.line("last run", run.id().value());
        RunsShowCommand.print(sheet, "  ", run, now);
    }
}
