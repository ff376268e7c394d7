package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.TimerOperator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Lists the timers of a topic, or of all, page by page; a page begins after the last timer of the one before. */
@Command(
        name = "list",
        description =
                "List timers of a topic or of all, without their payloads: the next due first, failed ones the latest first.")
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

    @Option(
            names = "--state",
            paramLabel = "STATE",
            defaultValue = "ready",
            converter = State.class,
            description = "Timers that are ready, in-progress or failed (default: ${DEFAULT-VALUE}).")
    private WorkStatus state = WorkStatus.READY;

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            paramLabel = "PLACE",
            converter = TimerPosition.Converter.class,
            description = "Begin after this place, which the page before printed.")
    private @Nullable TimerPosition after;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        TimerOperator reader = session.windlass().timers().operator("windlass");
        MessageFilter filter = MessageFilter.all().withStatus(state).withTopic(topic);
        List<ListedTimer> timers =
                after == null ? reader.list(filter, page.limit) : reader.list(filter, page.limit, after.last());
        if (page.json) {
            timers.forEach(timer -> session.out().println(Json.of(timer)));
        } else if (timers.isEmpty()) {
            session.out()
                    .println("no timers are " + StateName.words(state)
                            + (topic == null ? "" : " of topic " + Printable.line(topic)));
        } else {
            print(timers, session);
        }
        if (timers.size() == page.limit) {
            sayHowToGoOn(timers.get(timers.size() - 1), session);
        }
        return 0;
    }

    private static void print(List<ListedTimer> timers, OutboxSession session) {
        Instant now = session.now();
        Table table = new Table("ID", "TOPIC", "KEY", "DUE", "STATE", "FAILED", "LOST", "ERROR");
        for (ListedTimer timer : timers) {
            table.row(
                    timer.id().toString(),
                    timer.topic(),
                    timer.key()
                            .map(key -> Printable.cut(Printable.line(key), KEY_WIDTH))
                            .orElse("-"),
                    Span.dated(timer.dueTime(), now),
                    StateName.words(timer.status()),
                    Integer.toString(timer.retryCount()),
                    Integer.toString(timer.leaseExpiries()),
                    timer.lastError().orElse("-"));
        }
        table.print(session.page());
    }

    private void sayHowToGoOn(ListedTimer last, OutboxSession session) {
        List<String> words = new ArrayList<>();
        if (topic != null) {
            words.add(topic);
        }
        words.addAll(List.of("--state", StateName.option(state)));
        words.addAll(page.words());
        words.addAll(List.of("--after", TimerPosition.of(last)));
        page.sayNext(spec, session, access.commandWith(words));
    }

    private static final class State implements ITypeConverter<WorkStatus> {
        @Override
        public WorkStatus convert(String value) {
            WorkStatus state = StateName.read(WorkStatus.class, value);
            return switch (state) {
                case READY, IN_PROGRESS, FAILED -> state;
                case DONE, WAITING, CANCELLED ->
                    throw new TypeConversionException("expected one of ready, in-progress, failed, got '" + value
                            + "'; a timer that is done or cancelled is gone");
            };
        }
    }
}
