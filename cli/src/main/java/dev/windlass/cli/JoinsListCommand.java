package dev.windlass.cli;

import dev.windlass.join.Join;
import dev.windlass.join.JoinFilter;
import dev.windlass.join.JoinStatus;
import dev.windlass.join.Joins;
import dev.windlass.operator.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists joins page by page. */
@Command(name = "list", description = "List joins, the latest first, without their metadata.")
final class JoinsListCommand implements Callable<Integer> {

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Option(names = "--key", paramLabel = "KEY", description = "Only those with this grouping key.")
    private @Nullable String key;

    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "Only those in this state: pending, completed, failed or cancelled.")
    private @Nullable JoinStatus state;

    @Mixin
    private NextPage page = new NextPage();

    @Override
    public Integer call() throws Exception {
        return access.with(this::list);
    }

    private int list(OutboxSession session) {
        Joins joins = session.windlass().joins();
        JoinFilter filter = new JoinFilter(key, state);
        Page<Join> listed = page.read(
                () -> joins.list(filter, page.limit()), position -> joins.list(filter, page.limit(), position));
        if (page.isJson()) {
            listed.forEach(join -> session.out().println(Json.of(join)));
        } else if (listed.isEmpty()) {
            session.out().println("no joins");
        } else {
            print(listed, session);
        }
        page.say(listed, words(), access, session);
        return 0;
    }

    private List<String> words() {
        List<String> words = new ArrayList<>();
        if (key != null) {
            words.addAll(List.of("--key", key));
        }
        if (state != null) {
            words.addAll(List.of("--state", word(state)));
        }
        return words;
    }

    static String word(JoinStatus status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    private static void print(List<Join> joins, OutboxSession session) {
        Table table = new Table("ID", "KEY", "CREATED", "STATE", "STEPS", "COMPLETED", "FAILED");
        for (Join join : joins) {
            table.row(
                    join.id().toString(),
                    join.groupingKey().orElse("-"),
                    Printable.seconds(join.createdAt()),
                    word(join.status()),
                    Integer.toString(join.expectedSteps()),
                    Integer.toString(join.completedSteps()),
                    Integer.toString(join.failedSteps()));
        }
        table.print(session.page());
    }
}
