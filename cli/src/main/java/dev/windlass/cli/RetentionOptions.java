package dev.windlass.cli;

import dev.windlass.inbox.InboxOptions;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.work.WorkOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** For how long a node keeps what has ended. Where nodes disagree, the shortest time holds: whoever cleans up asks nobody else. */
final class RetentionOptions {
    /** What the inbox has forgotten is processed again when it comes again; so nothing is, unless somebody says after which time. */
    private static final Duration NEVER_FORGET = Duration.ofDays(36_500);

    @Option(
            names = "--retention",
            paramLabel = "TIME",
            converter = Kept.class,
            description = "How long handled messages of the outbox are kept: 12h, 30d (default: 7d).")
    private @Nullable Duration outbox;

    @Option(
            names = "--work-retention",
            paramLabel = "TIME",
            converter = Kept.class,
            description = "How long handled items of the work queue are kept (default: 7d).")
    private @Nullable Duration work;

    @Option(
            names = "--run-retention",
            paramLabel = "TIME",
            converter = Kept.class,
            description = "How long ended runs of jobs are kept; the last one of each job stays (default: 90d).")
    private @Nullable Duration runs;

    @Option(
            names = "--inbox-retention",
            paramLabel = "TIME",
            converter = Remembered.class,
            description = "How long the inbox remembers what was processed; longer than senders may deliver again"
                    + " (default: this node lets it forget nothing).")
    private @Nullable Duration inbox;

    OutboxOptions of(OutboxOptions options) {
        return outbox == null ? options : options.withRetention(outbox);
    }

    WorkOptions of(WorkOptions options) {
        return work == null ? options : options.withRetention(work);
    }

    ScheduleOptions of(ScheduleOptions options) {
        return runs == null ? options : options.withRunRetention(runs);
    }

    InboxOptions of(InboxOptions options) {
        return options.withRetention(inbox == null ? NEVER_FORGET : inbox);
    }

    private static final class Kept implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            return Accepted.time(time -> OutboxOptions.defaults().withRetention(time), value);
        }
    }

    /** An inbox that remembers nothing would be none. */
    private static final class Remembered implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String value) {
            return Accepted.time(time -> InboxOptions.defaults().withRetention(time), value);
        }
    }
}
