package dev.windlass.cli;

import dev.windlass.WorkStatus;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.operator.MessageFilter;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The failed messages to change: some of a source, by a filter, or all there are. */
final class InboxChoice {
    private static final int MOST = 10_000;

    @Parameters(
            paramLabel = "SOURCE ID",
            hideParamSyntax = true,
            arity = "0..*",
            description = "A source and ids of it, or choose by the options below.")
    private List<String> given = List.of();

    @Mixin
    private InboxWhich which = new InboxWhich();

    @Option(names = "--all", description = "All failed messages, of all sources.")
    private boolean all;

    @Mixin
    private ActorOption actor = new ActorOption();

    /** Everything at once must be said, so that a variable that is empty in a script does not mean it. */
    void requireOne(OutboxAccess access) {
        long ways = Stream.of(!given.isEmpty(), which.isGiven(), all)
                .filter(way -> way)
                .count();
        if (ways != 1) {
            throw access.wrongUse("expected a source and ids, or a filter (--source, --topic), or --all, got "
                    + (ways == 0 ? "none of them" : "more than one of them"));
        }
        if (given.size() == 1) {
            throw access.wrongUse("expected a source and at least one id, got only '" + given.get(0) + "'");
        }
    }

    boolean isByIds() {
        return !given.isEmpty();
    }

    MessageFilter filter() {
        return which.filter().withStatus(WorkStatus.FAILED);
    }

    List<InboxKey> keys() {
        return given.stream().skip(1).map(id -> new InboxKey(given.get(0), id)).toList();
    }

    InboxOperator operator(OutboxSession session) {
        return session.windlass().inbox().operator(actor.name());
    }

    /** Looks at a bounded number, however many there are. */
    String count(OutboxSession session) {
        int found = session.windlass()
                .inbox()
                .operator("windlass")
                .list(filter(), MOST)
                .size();
        return found == MOST ? "at least " + messages(found) : messages(found);
    }

    /** Of those that were named, at least one has to fit. */
    int report(OutboxSession session, String participle, int changed) {
        if (isByIds() && changed == 0) {
            throw new CommandFailure(participle + " none of " + messages(keys().size())
                    + ": each is unknown, or not failed; look at one with 'windlass inbox show SOURCE ID'");
        }
        session.out().printf("%s %s%n", participle, messages(changed));
        return 0;
    }

    private static String messages(int count) {
        return count == 1 ? "1 failed message" : "%,d failed messages".formatted(count);
    }
}
