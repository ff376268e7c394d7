package dev.windlass.cli;

import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.Jobs;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the runs of a job page by page; a page begins after the last run of the one before. */
@Command(
        name = "runs",
        description =
                "List the runs of a job, the latest first; also of a job that was deleted, until they are cleaned up.")
final class JobsRunsCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private JobChoice choice = new JobChoice();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            paramLabel = "ID",
            converter = RunPosition.Converter.class,
            description = "Begin after this run: its id, or what the page before printed.")
    private @Nullable RunPosition after;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        Jobs jobs = session.windlass().jobs();
        List<JobRun> runs = after == null
                ? jobs.runs(choice.name(), page.limit)
                : jobs.runs(choice.name(), page.limit, after.in(session));
        if (runs.isEmpty() && jobs.find(choice.name()).isEmpty()) {
            throw choice.unknown();
        }
        if (page.json) {
            runs.forEach(run -> session.out().println(JobJson.of(run)));
        } else if (runs.isEmpty()) {
            session.out().printf("no runs of %s%n", choice);
        } else {
            print(runs, session);
        }
        if (runs.size() == page.limit) {
            sayHowToGoOn(runs.get(runs.size() - 1), session);
        }
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

    private void sayHowToGoOn(JobRun last, OutboxSession session) {
        List<String> words = new ArrayList<>(List.of(choice.name()));
        words.addAll(page.words());
        words.addAll(List.of("--after", RunPosition.of(last)));
        page.sayNext(spec, session, access.commandWith(words));
    }
}
