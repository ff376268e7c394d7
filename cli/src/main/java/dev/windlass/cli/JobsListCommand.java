package dev.windlass.cli;

import dev.windlass.schedule.JobState;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists all jobs, by name. */
@Command(name = "list", description = "List jobs: when they run, when they ran, and what is wrong.")
final class JobsListCommand implements Callable<Integer> {
    private static final int SCHEDULE_WIDTH = 60;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Option(names = "--json", description = "Print one JSON object per line.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        List<JobState> jobs = JobChoice.looked(session.windlass().jobs()::list);
        if (json) {
            jobs.forEach(job -> session.out().println(JobJson.of(job)));
        } else if (jobs.isEmpty()) {
            session.out().println("no jobs");
        } else {
            print(jobs, session);
        }
        return 0;
    }

    private static void print(List<JobState> jobs, OutboxSession session) {
        Instant now = session.now();
        Table table = new Table("NAME", "SCHEDULE", "ZONE", "NEXT DUE", "LAST RUN", "SKIPPED", "PROBLEM");
        for (JobState job : jobs) {
            table.row(
                    job.name(),
                    Printable.cut(Printable.line(JobText.schedule(job.job())), SCHEDULE_WIDTH),
                    JobText.zone(job.job()).orElse("-"),
                    job.firesAt().map(due -> Span.dated(due, now)).orElse("paused"),
                    job.lastRun().map(JobText::outcome).orElse("-"),
                    Long.toString(job.skippedTicks()),
                    JobText.problem(job).orElse("-"));
        }
        table.print(session.page());
    }
}
