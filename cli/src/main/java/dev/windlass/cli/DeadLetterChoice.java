package dev.windlass.cli;

import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The dead letters to change: given one by one, by a filter, or all there are. */
final class DeadLetterChoice {
    private static final int PAGE = 500;
    private static final int MOST_PAGES = 20;

    @Parameters(
            paramLabel = "ID",
            arity = "0..*",
            description = "The dead letters, or choose them by the options below.")
    private List<String> given = List.of();

    private List<OutboxMessageIdentifier> ids = List.of();

    @Mixin
    private DeadLetterOptions which = new DeadLetterOptions();

    @Option(names = "--all", description = "All dead letters, of all topics.")
    private boolean all;

    @Option(names = "--dry-run", description = "Say how many it would be, and change nothing.")
    private boolean dryRun;

    @Mixin
    private ActorOption actor = new ActorOption();

    /** Everything at once must be said, so that a variable that is empty in a script does not mean it. */
    void requireOne(OutboxAccess access) {
        long ways = Stream.of(!given.isEmpty(), which.isGiven(), all)
                .filter(way -> way)
                .count();
        if (ways != 1) {
            throw access.wrongUse("expected ids, or a filter (--topic, --from, --until, --error), or --all, got "
                    + (ways == 0 ? "none of them" : "more than one of them"));
        }
        ids = MessageId.each(given, access);
    }

    boolean isByIds() {
        return !given.isEmpty();
    }

    boolean isDryRun() {
        return dryRun;
    }

    MessageFilter filter(OutboxSession session) {
        return which.filter(session);
    }

    int change(DeadLetterChange change, OutboxSession session) {
        if (dryRun) {
            session.out().printf("would %s %s%n", change.verb(), count(change, session, filter(session)));
            return 0;
        }
        return isByIds() ? changeIds(change, session) : changeFiltered(change, session, filter(session));
    }

    private int changeIds(DeadLetterChange change, OutboxSession session) {
        OutboxOperator operator = session.outbox().operator(actor.name());
        return Fitting.MESSAGES.report(
                session, change.participle(), change.misfits(), ids.size(), change.apply(operator, ids));
    }

    int changeFiltered(DeadLetterChange change, OutboxSession session, MessageFilter filter) {
        int changed = change.apply(session.outbox().operator(actor.name()), filter);
        session.out().printf("%s %s%n", change.participle(), deadLetters(changed));
        return 0;
    }

    /** Looks at a bounded number of dead letters, however many there are. */
    String count(DeadLetterChange change, OutboxSession session, MessageFilter filter) {
        if (isByIds()) {
            return deadLetters(ids.stream()
                    .map(session::deadLetter)
                    .flatMap(Optional::stream)
                    .filter(change::fits)
                    .count());
        }
        OutboxOperator reader = session.reader();
        Predicate<ListedMessage> fits = change::fits;
        List<ListedMessage> page = reader.list(filter, PAGE);
        long count = page.stream().filter(fits).count();
        for (int pages = 1; page.size() == PAGE; pages++) {
            if (pages == MOST_PAGES) {
                return "at least " + deadLetters(count);
            }
            page = reader.list(filter, PAGE, page.get(PAGE - 1));
            count += page.stream().filter(fits).count();
        }
        return deadLetters(count);
    }

    private static String deadLetters(long count) {
        return count == 1 ? "1 dead letter" : "%,d dead letters".formatted(count);
    }
}
