package dev.windlass.cli;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Shows what is in the outbox, topic by topic, and beside it. */
@Command(
        name = "status",
        description =
                "Show how many messages are in which state: for each topic of the outbox, and in the inbox; and timers and jobs.")
final class StatusCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private WindlassCommand root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Override
    public Integer call() throws SQLException {
        Target target = database.required(spec, root.environment());
        PrintWriter out = spec.commandLine().getOut();
        target.check();
        schema.on(target.dataSource()).migrator().check();
        try (Connection connection = target.connect()) {
            print(out, TopicStatus.read(connection, schema));
            InboxStatus inbox = InboxStatus.read(connection, schema);
            if (!inbox.isEmpty()) {
                out.println(inbox);
            }
            TimerStatus timers = TimerStatus.read(connection, schema);
            if (!timers.isEmpty()) {
                out.println(timers);
            }
            JobStatus jobs = JobStatus.read(connection, schema);
            if (!jobs.isEmpty()) {
                out.println(jobs);
            }
        } catch (SQLException e) {
            throw CommandFailure.of("read the status of schema \"" + schema.schema + "\" on " + target, e);
        }
        out.flush();
        return 0;
    }

    private static void print(PrintWriter out, List<TopicStatus> topics) {
        if (topics.isEmpty()) {
            out.println("no messages in the outbox");
            return;
        }
        int width = Math.max(
                5, topics.stream().mapToInt(topic -> name(topic).length()).max().orElse(0));
        String line = "%-" + width + "s  %8s  %8s  %8s  %11s  %8s  %8s  %12s  %11s%n";
        out.printf(
                line,
                "TOPIC",
                "READY",
                "DUE",
                "WAITING",
                "IN PROGRESS",
                "DONE",
                "FAILED",
                "BLOCKED KEYS",
                "OLDEST DUE");
        for (TopicStatus topic : topics) {
            out.printf(
                    line,
                    name(topic),
                    topic.ready(),
                    topic.due(),
                    topic.waiting(),
                    topic.inProgress(),
                    topic.done(),
                    topic.failed(),
                    topic.blockedKeys(),
                    topic.oldestDue());
        }
        if (topics.stream().anyMatch(TopicStatus::isCut)) {
            out.printf(
                    "A + means at least: counting stops at %,d ready messages of a topic, and at %,d in each other state.%n",
                    TopicStatus.MAX_READY, TopicStatus.MAX_OTHERS);
        }
    }

    private static String name(TopicStatus topic) {
        return Printable.line(topic.topic()) + (topic.isPaused() ? " (paused)" : "");
    }
}
