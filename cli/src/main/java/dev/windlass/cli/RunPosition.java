package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/**
 * Where a page of runs begins: after one of them, named by its id.
 *
 * @param createdAt with it the position outlives the run, which may be cleaned up before the next page is read
 */
record RunPosition(JobRunIdentifier id, @Nullable Instant createdAt) {

    static String of(JobRun run) {
        return run.createdAt() + "/" + run.id().value();
    }

    JobRun in(OutboxSession session) {
        if (createdAt != null) {
            return at(id, createdAt);
        }
        return session.windlass()
                .jobs()
                .findRun(id)
                .orElseThrow(() -> new CommandFailure("expected a run to begin after, but " + id.value()
                        + " is none, or no longer; begin without --after"));
    }

    /** Only time and id matter to the list. */
    private static JobRun at(JobRunIdentifier id, Instant createdAt) {
        return new JobRun(
                id,
                "any",
                createdAt,
                false,
                createdAt,
                Optional.empty(),
                Optional.empty(),
                WorkStatus.READY,
                0,
                0,
                Optional.empty(),
                false,
                Optional.empty(),
                createdAt);
    }

    /** Reads ID or TIME/ID. */
    static final class Converter implements ITypeConverter<RunPosition> {
        @Override
        public RunPosition convert(String value) {
            int slash = value.indexOf('/');
            return new RunPosition(
                    new JobRunIdentifier(MessageId.uuid("run", value.substring(slash + 1))),
                    slash < 0 ? null : new PointInTime().convert(value.substring(0, slash)));
        }
    }
}
