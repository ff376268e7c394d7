package dev.windlass.cli;

import dev.windlass.operator.TopicLimit;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists the topics that are limited over all nodes. */
@Command(name = "limits", description = "List ${bundle:queue.topic}s whose ${bundle:queue.nouns} are limited, and how.")
final class LimitsCommand implements Callable<Integer> {

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
        Map<String, TopicLimit> limits = above.queue().reader(session).limits();
        if (json) {
            limits.forEach((topic, limit) -> session.out().println(Json.of(topic, limit)));
        } else if (limits.isEmpty()) {
            session.out().println("no limited " + above.queue().topic() + "s");
        } else {
            print(limits, session);
        }
        return 0;
    }

    private void print(Map<String, TopicLimit> limits, OutboxSession session) {
        Table table = new Table(above.queue().topicHead(), "RUNNING", "PER KEY", "RATE");
        limits.forEach((topic, limit) -> table.row(
                topic,
                number(limit.running()),
                number(limit.perKey()),
                limit.rate() == null || limit.period() == null
                        ? "-"
                        : limit.rate() + " per " + Span.exact(limit.period())));
        table.print(session.page());
    }

    private static String number(@Nullable Integer number) {
        return number == null ? "-" : number.toString();
    }
}
