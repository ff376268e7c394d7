package dev.windlass.cli;

import dev.windlass.operator.PausedTopic;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists the topics that nobody handles now. */
@Command(
        name = "paused",
        description =
                "List ${bundle:queue.topic}s whose ${bundle:queue.nouns} are paused: since when, by whom, and why.")
final class PausedCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Option(names = "--json", description = "Print one JSON object per line.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        List<PausedTopic> paused = above.queue().reader(session).pausedTopics();
        if (json) {
            paused.forEach(topic -> session.out().println(Json.of(topic)));
        } else if (paused.isEmpty()) {
            session.out().println("no paused " + above.queue().topic() + "s");
        } else {
            print(paused, session);
        }
        return 0;
    }

    private void print(List<PausedTopic> paused, OutboxSession session) {
        Table table = new Table(above.queue().topicHead(), "SINCE", "BY", "REASON");
        for (PausedTopic topic : paused) {
            table.row(
                    topic.topic(),
                    Printable.seconds(topic.since()),
                    topic.by(),
                    topic.reason().filter(reason -> !reason.isBlank()).orElse("-"));
        }
        table.print(session.page());
    }
}
