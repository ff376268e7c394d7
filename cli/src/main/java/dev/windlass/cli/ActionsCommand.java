package dev.windlass.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.operator.Operator;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** Lists what operators did. */
@Command(
        name = "actions",
        description = "List what operators did: who, when, what, and to how many ${bundle:queue.nouns}.")
final class ActionsCommand implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private NextPage page = new NextPage();

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        Operator<?, ?> reader = above.queue().reader(session);
        Page<OperatorAction> actions =
                page.read(() -> reader.actions(page.limit()), position -> reader.actions(page.limit(), position));
        if (page.isJson()) {
            actions.forEach(action -> session.out().println(Json.of(action)));
        } else {
            print(actions, session);
        }
        page.say(actions, List.of(), access, session);
        return 0;
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
}
