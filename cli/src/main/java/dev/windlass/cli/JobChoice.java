package dev.windlass.cli;

import dev.windlass.base.WindlassException;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobOperator;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.UnknownJobException;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Parameters;

/** One job, by its name. */
final class JobChoice {

    @Parameters(paramLabel = "NAME", converter = Name.class, description = "The job.")
    @SuppressWarnings("NullAway.Init")
    private String name;

    String name() {
        return name;
    }

    JobState in(OutboxSession session) {
        return looked(() -> session.windlass().jobs().find(name)).orElseThrow(this::unknown);
    }

    /** Looks at jobs; who may not is told why. */
    static <T> T looked(Supplier<T> look) {
        try {
            return look.get();
        } catch (WindlassException e) {
            throw CommandFailure.ofJobs(e);
        }
    }

    /** Does something to the job, recorded with a name; if there is none, that is said in the words of the command line. */
    <T> T change(OutboxSession session, String who, Function<JobOperator, T> change) {
        try {
            return change.apply(session.windlass().jobs().operator(who));
        } catch (UnknownJobException e) {
            throw unknown();
        }
    }

    CommandFailure unknown() {
        return new CommandFailure("expected the name of a job, got '" + Printable.line(name)
                + "', which is none in this --schema and --table; 'windlass jobs list' lists those there are");
    }

    @Override
    public String toString() {
        return "job " + Printable.line(name);
    }

    private static final class Name implements ITypeConverter<String> {
        @Override
        public String convert(String value) {
            return Accepted.by(() -> Job.every(value, Duration.ofHours(1)), value);
        }
    }
}
