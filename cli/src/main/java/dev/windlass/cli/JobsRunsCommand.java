package dev.windlass.cli;

import dev.windlass.operator.Page;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.Jobs;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists the runs of a job page by page; a page begins after the last run of the one before. */
@Command(
        name = "runs",
        description =
                "List the runs of a job, the latest first; also of a job that was deleted, until they are cleaned up.")
final class JobsRunsCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Mixin
    private NextPage page = new NextPage();

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        Jobs jobs = session.windlass().jobs();
        Page<JobRun> runs = page.read(
                () -> jobs.runs(choice.name(), page.limit()),
                position -> jobs.runs(choice.name(), page.limit(), position));
        if (runs.isEmpty() && jobs.find(choice.name()).isEmpty()) {
            throw choice.unknown();
        }
        if (page.isJson()) {
            runs.forEach(run -> session.out().println(JobJson.of(run)));
        } else if (runs.isEmpty()) {
            session.out().printf("no runs of %s%n", choice);
        } else {
            print(runs, session);
        }
        page.say(runs, List.of(choice.name()), access, session);
        return 0;
    }

    private static void print(List<JobRun> runs, OutboxSession session) {
        Instant now = session.now();
        Table table = new Table("ID", "TICK", "STARTED", "TOOK", "OUTCOME", "ATTEMPTS", "ERROR");
        for (JobRun run : runs) {
            table.row(
                    run.id().value().toString(),
                    run.triggered() ? "triggered" : Printable.seconds(run.tick()),
                    run.startedAt().map(Printable::seconds).orElse("-"),
                    JobText.took(run, now).map(Span::fine).orElse("-"),
                    JobText.status(run),
                    Integer.toString(JobText.attempts(run)),
                    run.lastError().orElse("-"));
        }
        table.print(session.page());
    }
}
