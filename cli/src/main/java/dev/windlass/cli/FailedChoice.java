package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Operator;
import dev.windlass.operator.Page;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What has failed and is to be changed: named one by one, by a filter, or all there is. */
final class FailedChoice {
    private static final int PAGE = 500;
    private static final int MOST_PAGES = 20;

    @Parameters(
            paramLabel = "ID",
            arity = "0..*",
            description = "The failed ${bundle:queue.nouns}, or choose them by the options below.")
    private List<String> given = List.of();

    @Mixin
    private FilterOptions which = new FilterOptions();

    @Option(names = "--all", description = "All failed ${bundle:queue.nouns}.")
    private boolean all;

    @Option(names = "--dry-run", description = "Say how many it would be, and change nothing.")
    private boolean dryRun;

    @Mixin
    private ActorOption actor = new ActorOption();

    /** Everything at once must be said, so that a variable that is empty in a script does not mean it. */
    void requireOne(OutboxAccess access, WorkQueue<?, ?> queue) {
        long ways = Stream.of(!given.isEmpty(), which.isGiven(), all)
                .filter(way -> way)
                .count();
        if (ways != 1) {
            throw access.wrongUse("expected " + queue.names() + "..., or a filter such as --topic or --error, or --all,"
                    + " got " + (ways == 0 ? "none of them" : "more than one of them"));
        }
        Names.read(given, queue, access);
    }

    boolean isNamed() {
        return !given.isEmpty();
    }

    boolean isDryRun() {
        return dryRun;
    }

    String actor() {
        return actor.name();
    }

    MessageFilter filter(OutboxSession session) {
        return which.filter(session);
    }

    <I, L> int change(FailedChange<I, L> change, WorkQueue<I, L> queue, OutboxSession session) {
        return change(change, queue, session, filter(session));
    }

    <I, L> int change(FailedChange<I, L> change, WorkQueue<I, L> queue, OutboxSession session, MessageFilter filter) {
        if (dryRun) {
            session.out().printf("would %s %s%n", change.verb(), count(change, queue, session, filter));
        } else if (isNamed()) {
            List<I> names = queue.read(given);
            int changed = change.named().applyAsInt(names);
            return queue.report(session, change.participle(), change.misfits(), names.size(), changed);
        } else {
            int changed = change.filtered().applyAsInt(filter);
            session.out().printf("%s %s%n", change.participle(), queue.failed(changed));
        }
        return 0;
    }

    /** Looks at a bounded number of them, however many there are. */
    <I, L> String count(FailedChange<I, L> change, WorkQueue<I, L> queue, OutboxSession session, MessageFilter filter) {
        Operator<I, L> reader = queue.reader(session);
        MessageFilter failed = filter.withStatus(MessageFilter.failed().status());
        Set<I> names = new HashSet<>(isNamed() ? queue.read(given) : List.of());
        Predicate<L> fits = change.fits().and(one -> names.isEmpty() || names.contains(queue.name(one)));
        Page<L> page = reader.list(failed, PAGE);
        long count = page.stream().filter(fits).count();
        for (int pages = 1; page.next().isPresent(); pages++) {
            if (pages == MOST_PAGES) {
                return "at least " + queue.failed(count);
            }
            page = reader.list(failed, PAGE, page.next().orElseThrow());
            count += page.stream().filter(fits).count();
        }
        return queue.failed(count);
    }
}
