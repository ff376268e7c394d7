package dev.windlass.cli;

import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.SeenMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists dead messages page by page; a page begins after the last message of the one before. */
@Command(name = "dead", description = "List messages that were given up, the latest first.")
final class InboxDeadCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private InboxWhich which = new InboxWhich();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            arity = "2",
            paramLabel = "SOURCE ID",
            hideParamSyntax = true,
            description = "Begin after this dead message: its source and its id.")
    private List<String> after = List.of();

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        InboxOperator operator = session.windlass().inbox().operator("windlass");
        List<SeenMessage> dead = after.isEmpty()
                ? operator.dead(which.filter(), page.limit)
                : operator.dead(which.filter(), page.limit, last(session));
        SeenMessages.print(dead, page.json, "no dead messages", session);
        if (dead.size() == page.limit) {
            sayHowToGoOn(dead.get(dead.size() - 1).key(), session);
        }
        return 0;
    }

    private SeenMessage last(OutboxSession session) {
        InboxKey key = new InboxKey(after.get(0), after.get(1));
        return session.windlass()
                .inbox()
                .find(key.source(), key.messageId())
                .filter(message -> message.endedAt().isPresent())
                .orElseThrow(() -> new CommandFailure("expected a dead message to begin after, but " + key
                        + " is none, or no longer; begin without --after"));
    }

    private void sayHowToGoOn(InboxKey last, OutboxSession session) {
        List<String> words = new ArrayList<>(which.words());
        words.addAll(page.words());
        words.addAll(List.of("--after", last.source(), last.messageId()));
        page.sayNext(spec, session, access.commandWith(words));
    }
}
