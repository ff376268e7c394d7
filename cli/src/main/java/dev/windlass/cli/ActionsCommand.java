package dev.windlass.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.operator.OperatorAction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists what operators did. */
@Command(name = "actions", description = "List what operators did: who, when, what, and to how many messages.")
final class ActionsCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(names = "--after", paramLabel = "NUMBER", description = "Begin after the action with this number.")
    private @Nullable Long after;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        List<OperatorAction> actions = after == null
                ? session.reader().actions(page.limit)
                : session.reader().actions(page.limit, numbered(after));
        if (page.json) {
            actions.forEach(action -> session.out().println(Json.of(action)));
        } else {
            print(actions, session);
        }
        if (actions.size() == page.limit) {
            sayHowToGoOn(actions.get(actions.size() - 1), session);
        }
        return 0;
    }

    /** Only the number matters to the list. */
    private static OperatorAction numbered(long number) {
        return new OperatorAction(number, Instant.EPOCH, "", "", "{}", 0);
    }

    private static void print(List<OperatorAction> actions, OutboxSession session) {
        if (actions.isEmpty()) {
            session.out().println("no actions");
            return;
        }
        Table table = new Table("NUMBER", "AT", "BY", "WHAT", "MESSAGES", "DETAIL");
        for (OperatorAction action : actions) {
            table.row(
                    Long.toString(action.number()),
                    Printable.seconds(action.at()),
                    action.by(),
                    action.verb(),
                    Integer.toString(action.messages()),
                    detail(action));
        }
        table.print(session.page());
    }

    private static String detail(OperatorAction action) {
        List<String> parts = new ArrayList<>();
        Json.read(action.detail()).properties().forEach(part -> parts.add(part.getKey() + " " + text(part.getValue())));
        return parts.isEmpty() ? "-" : String.join(", ", parts);
    }

    private static String text(JsonNode value) {
        List<String> texts = new ArrayList<>();
        value.forEach(element -> texts.add(element.asText()));
        return value.isArray() ? String.join(" ", texts) : value.asText();
    }

    private void sayHowToGoOn(OperatorAction last, OutboxSession session) {
        List<String> words = new ArrayList<>(page.words());
        words.addAll(List.of("--after", Long.toString(last.number())));
        page.sayNext(spec, session, access.commandWith(words));
    }
}
