package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists dead letters page by page; a page begins after the last message of the one before, however many are above. */
@Command(name = "dead", description = "List dead letters: messages that failed for good, the latest first.")
final class DeadCommand implements Callable<Integer> {
    private static final int KEY_WIDTH = 30;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private DeadLetterOptions which = new DeadLetterOptions();

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--after",
            paramLabel = "ID",
            converter = PagePosition.Converter.class,
            description = "Begin after this dead letter: its id, or what the page before printed.")
    private @Nullable PagePosition after;

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        MessageFilter filter = which.filter(session);
        List<ListedMessage> letters = after == null
                ? session.reader().list(filter, page.limit)
                : session.reader().list(filter, page.limit, after.in(session));
        if (page.json) {
            letters.forEach(letter -> session.out().println(Json.of(letter)));
        } else {
            print(letters, session);
        }
        if (letters.size() == page.limit) {
            sayHowToGoOn(letters.get(letters.size() - 1), filter, session);
        }
        return 0;
    }

    private static void print(List<ListedMessage> letters, OutboxSession session) {
        if (letters.isEmpty()) {
            session.out().println("no dead letters");
            return;
        }
        Table table = new Table("ID", "TOPIC", "FAILED AT", "ATTEMPTS", "KEY", "ERROR");
        for (ListedMessage letter : letters) {
            table.row(
                    letter.id().value().toString(),
                    letter.topic(),
                    Printable.seconds(letter.at()),
                    Integer.toString(attempts(letter)),
                    key(letter),
                    letter.lastError().orElse("-"));
        }
        table.print(session.page());
    }

    /** One that expired was given up by no node, without another attempt. */
    private static int attempts(ListedMessage letter) {
        return letter.retryCount() + (letter.endedBy().isPresent() ? 1 : 0);
    }

    private static String key(ListedMessage letter) {
        String key = letter.orderingKey()
                .map(text -> Printable.cut(Printable.line(text), KEY_WIDTH))
                .orElse("-");
        return letter.blocksKey() ? key + " (blocks)" : key;
    }

    private void sayHowToGoOn(ListedMessage last, MessageFilter filter, OutboxSession session) {
        List<String> words = new ArrayList<>(DeadLetterOptions.words(filter));
        words.addAll(page.words());
        words.addAll(List.of("--after", PagePosition.of(last)));
        page.sayNext(spec, session, access.commandWith(words));
    }
}
