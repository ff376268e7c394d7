package dev.windlass.cli;

import dev.windlass.base.WorkStatus;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Operator;
import dev.windlass.operator.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** Lists what a queue holds, of a state or of all. */
abstract class QueueList implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private FilterOptions which = new FilterOptions();

    @Mixin
    private NextPage page = new NextPage();

    abstract @Nullable WorkStatus state();

    /** How the state is said on the command line. */
    abstract List<String> stateWords();

    /** What is said when there are none. */
    abstract String none(String nouns);

    @Override
    public final Integer call() throws Exception {
        return access.with(session -> list(session, above.queue()));
    }

    private <I, L> int list(OutboxSession session, WorkQueue<I, L> queue) {
        Operator<I, L> reader = queue.reader(session);
        MessageFilter filter = which.filter(session).withStatus(state());
        Page<L> listed = page.read(
                () -> reader.list(filter, page.limit()), position -> reader.list(filter, page.limit(), position));
        if (page.isJson()) {
            listed.forEach(one -> session.out().println(queue.json(one)));
        } else if (listed.isEmpty()) {
            session.out().println(none(queue.nouns()));
        } else {
            queue.print(listed, state(), session);
        }
        List<String> words = new ArrayList<>(stateWords());
        words.addAll(FilterOptions.words(filter));
        page.say(listed, words, access, session);
        return 0;
    }
}
