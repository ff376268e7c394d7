package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows one run. */
@Command(name = "show", description = "Show a run of a job and its failed attempts, without its payload.")
final class RunsShowCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(paramLabel = "ID", converter = Id.class, description = "The run.")
    @SuppressWarnings("NullAway.Init")
    private JobRunIdentifier id;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::show);
    }

    private int show(OutboxSession session) {
        JobRun run = session.windlass()
                .jobs()
                .findRun(id)
                .orElseThrow(() -> new CommandFailure("expected a run with id " + id
                        + ", found none; it may have been purged or cleaned up, or be in another --schema or --table;"
                        + " 'windlass runs list' lists those there are"));
        List<FailedAttempt> failures = failures(session, run);
        if (json) {
            ObjectNode object = JobJson.of(run);
            session.out().println(FailedAttempts.add(failures, object));
        } else {
            print(new Sheet(session.out()), run, session.now());
            FailedAttempts.print(failures, session);
        }
        return 0;
    }

    /** As a run, and as the message it became. */
    private static List<FailedAttempt> failures(OutboxSession session, JobRun run) {
        List<FailedAttempt> failures = new ArrayList<>(session.windlass().jobs().failures(run.id()));
        run.messageId().ifPresent(message -> failures.addAll(session.outbox().failures(message)));
        return failures;
    }

    private static void print(Sheet sheet, JobRun run, Instant now) {
        sheet.line("id", run.id());
        sheet.line("job", run.jobName());
        sheet.line("message", run.messageId());
        sheet.line("created at", run.createdAt());
        print(sheet, "", run, now);
    }

    /** What the run of a job came to, each line after the indentation. */
    static void print(Sheet sheet, String indentation, JobRun run, Instant now) {
        sheet.line(indentation + "status", JobText.status(run));
        sheet.line(indentation + "tick", run.triggered() ? run.tick() + " (triggered)" : run.tick());
        sheet.line(indentation + "started at", run.startedAt());
        sheet.line(indentation + "ended at", run.endedAt());
        sheet.line(indentation + "took", JobText.took(run, now).map(Span::fine));
        sheet.line(indentation + "attempts", JobText.attempts(run));
        sheet.line(indentation + "leases lost", run.leaseExpiries());
        sheet.block(indentation + "last error", run.lastError());
        sheet.block(indentation + "output", run.output());
    }

    private static final class Id implements ITypeConverter<JobRunIdentifier> {
        @Override
        public JobRunIdentifier convert(String value) {
            return new JobRunIdentifier(MessageId.uuid("run", value));
        }
    }
}
