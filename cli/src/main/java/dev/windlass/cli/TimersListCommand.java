package dev.windlass.cli;

import dev.windlass.schedule.Timer;
import dev.windlass.schedule.Timers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the timers of a topic, or of all, page by page; a page begins after the last timer of the one before. */
@Command(name = "list", description = "List the timers that are not done, of a topic or of all, the next due first.")
final class TimersListCommand implements Callable<Integer> {
    private static final int KEY_WIDTH = 30;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Parameters(
            paramLabel = "TOPIC",
            arity = "0..1",
            converter = TopicName.class,
            description = "Only the timers of this topic.")
    private @Nullable String topic;

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            paramLabel = "ID",
            converter = TimerPosition.Converter.class,
            description = "Begin after this timer: its id, or what the page before printed.")
    private @Nullable TimerPosition after;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        Timer last = after == null ? null : after.in(session);
        Timers all = session.windlass().timers();
        List<Timer> timers = topic == null ? all.list(page.limit, last) : all.list(topic, page.limit, last);
        if (page.json) {
            timers.forEach(timer -> session.out().println(Json.of(timer)));
        } else if (timers.isEmpty()) {
            session.out().println(topic == null ? "no timers" : "no timers of topic " + Printable.line(topic));
        } else {
            print(timers, session);
        }
        if (timers.size() == page.limit) {
            sayHowToGoOn(timers.get(timers.size() - 1), session);
        }
        return 0;
    }

    static String state(Timer timer) {
        return timer.claimed() ? "claimed" : timer.failed() ? "failed" : "pending";
    }

    private static void print(List<Timer> timers, OutboxSession session) {
        Instant now = session.now();
        Table table = new Table("ID", "TOPIC", "KEY", "DUE", "STATE", "FAILED", "LOST", "ERROR");
        for (Timer timer : timers) {
            table.row(
                    timer.id().toString(),
                    timer.topic(),
                    timer.key()
                            .map(key -> Printable.cut(Printable.line(key), KEY_WIDTH))
                            .orElse("-"),
                    Span.dated(timer.dueTime(), now),
                    state(timer),
                    Integer.toString(timer.retryCount()),
                    Integer.toString(timer.leaseExpiries()),
                    timer.lastError().orElse("-"));
        }
        table.print(session.page());
    }

    private void sayHowToGoOn(Timer last, OutboxSession session) {
        List<String> words = new ArrayList<>();
        if (topic != null) {
            words.add(topic);
        }
        words.addAll(page.words());
        words.addAll(List.of("--after", TimerPosition.of(last)));
        page.sayNext(spec, session, access.commandWith(words));
    }
}
