package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists messages page by page; a page begins after the last message of the one before. */
@Command(
        name = "list",
        description = {
            "List messages, without their payloads.",
            "Unfinished ones of a state come the oldest first, ended ones and those of all states the latest first. The time is"
                    + " that of the state: due, begun or ended; else created."
        })
final class ListCommand implements Callable<Integer> {
    private static final int KEY_WIDTH = 30;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Option(
            names = "--state",
            paramLabel = "STATE",
            converter = State.class,
            description = "Only messages that are ready, in-progress, done, failed, waiting or cancelled.")
    private @Nullable WorkStatus state;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            converter = TopicName.class,
            description = "Only messages of this topic.")
    private @Nullable String topic;

    @Mixin
    private TimeOptions time = new TimeOptions();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            paramLabel = "PLACE",
            converter = PagePosition.PlaceConverter.class,
            description = "Begin after this place, which the page before printed.")
    private @Nullable PagePosition after;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        MessageFilter filter = new MessageFilter(state, topic, null, time.from(session), time.until(session), null);
        List<ListedMessage> messages = after == null
                ? session.reader().list(filter, page.limit)
                : session.reader().list(filter, page.limit, after.in(session));
        if (page.json) {
            messages.forEach(message -> session.out().println(Json.of(message)));
        } else if (messages.isEmpty()) {
            session.out().println("no messages");
        } else {
            print(messages, session);
        }
        if (messages.size() == page.limit) {
            sayHowToGoOn(messages.get(messages.size() - 1), filter, session);
        }
        return 0;
    }

    private void print(List<ListedMessage> messages, OutboxSession session) {
        Table table = new Table("ID", "TOPIC", "STATE", head(), "FAILED", "LOST", "KEY", "ERROR");
        for (ListedMessage message : messages) {
            table.row(
                    message.id().toString(),
                    message.topic(),
                    StateName.words(message.status()),
                    Printable.seconds(message.at()),
                    Integer.toString(message.retryCount()),
                    Integer.toString(message.leaseExpiries()),
                    message.orderingKey()
                            .map(key -> Printable.cut(Printable.line(key), KEY_WIDTH))
                            .orElse("-"),
                    message.lastError().orElse("-"));
        }
        table.print(session.page());
    }

    private String head() {
        if (state == null) {
            return "CREATED";
        }
        return switch (state) {
            case READY -> "DUE";
            case IN_PROGRESS -> "BEGUN";
            case DONE, FAILED, CANCELLED -> "ENDED";
            case WAITING -> "CREATED";
        };
    }

    private void sayHowToGoOn(ListedMessage last, MessageFilter filter, OutboxSession session) {
        List<String> words = new ArrayList<>();
        if (state != null) {
            words.addAll(List.of("--state", StateName.option(state)));
        }
        if (topic != null) {
            words.addAll(List.of("--topic", topic));
        }
        words.addAll(TimeOptions.words(filter.from(), filter.until()));
        words.addAll(page.words());
        words.addAll(List.of("--after", PagePosition.of(last)));
        page.sayNext(spec, session, access.commandWith(words));
    }

    private static final class State implements ITypeConverter<WorkStatus> {
        @Override
        public WorkStatus convert(String value) {
            return StateName.read(WorkStatus.class, value);
        }
    }
}
