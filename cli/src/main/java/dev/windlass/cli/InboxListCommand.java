package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.inbox.ListedMessage;
import dev.windlass.operator.MessageFilter;
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

/** Lists messages of the inbox page by page; a page begins after the last message of the one before. */
@Command(
        name = "list",
        description = {
            "List messages that arrived, without their payloads.",
            "Unfinished ones of a state come the oldest first, ended ones the latest first; of all states, those that are queued"
                    + " come first, the latest first. The time is that of the state: due, begun or ended."
        })
final class InboxListCommand implements Callable<Integer> {

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

    @Mixin
    private InboxWhich which = new InboxWhich();

    @Mixin
    private TimeOptions time = new TimeOptions();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            arity = "3",
            paramLabel = "PLACE SOURCE ID",
            hideParamSyntax = true,
            description = "Begin after this place, which the page before printed.")
    private List<String> after = List.of();

    @Override
    public Integer call() throws Exception {
        InboxPlace place = after.isEmpty() ? null : InboxPlace.read(after, access);
        return access.with(session -> list(session, place));
    }

    private int list(OutboxSession session, @Nullable InboxPlace place) {
        MessageFilter filter =
                which.filter().withStatus(state).withFrom(time.from(session)).withUntil(time.until(session));
        var operator = session.windlass().inbox().operator("windlass");
        List<ListedMessage> messages =
                place == null ? operator.list(filter, page.limit) : operator.list(filter, page.limit, place.message());
        if (page.json) {
            messages.forEach(message -> session.out().println(Json.of(message)));
        } else if (messages.isEmpty()) {
            session.out().println("no messages");
        } else {
            print(messages, head(), session);
        }
        if (messages.size() == page.limit) {
            sayHowToGoOn(messages.get(messages.size() - 1), filter, session);
        }
        return 0;
    }

    static void print(List<ListedMessage> messages, String time, OutboxSession session) {
        Table table = new Table("SOURCE", "ID", "STATE", "TOPIC", time, "FAILED", "LOST", "ERROR");
        for (ListedMessage message : messages) {
            table.row(
                    message.key().source(),
                    message.key().messageId(),
                    StateName.words(message.status()),
                    message.topic().orElse("-"),
                    Printable.seconds(message.at()),
                    Integer.toString(message.retryCount()),
                    Integer.toString(message.leaseExpiries()),
                    message.lastError().orElse("-"));
        }
        table.print(session.page());
    }

    private String head() {
        if (state == null) {
            return "TIME";
        }
        return switch (state) {
            case READY -> "DUE";
            case IN_PROGRESS -> "BEGUN";
            case WAITING -> "STORED";
            case DONE, FAILED, CANCELLED -> "ENDED";
        };
    }

    private void sayHowToGoOn(ListedMessage last, MessageFilter filter, OutboxSession session) {
        List<String> words = new ArrayList<>();
        if (state != null) {
            words.addAll(List.of("--state", StateName.option(state)));
        }
        words.addAll(which.words());
        words.addAll(TimeOptions.words(filter.from(), filter.until()));
        words.addAll(page.words());
        words.add("--after");
        words.addAll(InboxPlace.words(last));
        page.sayNext(spec, session, access.commandWith(words));
    }

    private static final class State implements ITypeConverter<WorkStatus> {
        @Override
        public WorkStatus convert(String value) {
            return StateName.read(WorkStatus.class, value);
        }
    }
}
