package dev.windlass.internal.outbox;

import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.outbox.OutboxEntry;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/** A join to be started and its steps, with the ids that they keep when the call is repeated. */
record FanOut(JoinIdentifier id, UUID followUpId, JoinEntry join, List<UUID> ids, List<OutboxEntry> steps) {

    static FanOut of(JoinEntry join, Collection<OutboxEntry> steps, TimeOrderedIds ids) {
        Require.present("join entry", join);
        List<OutboxEntry> members = List.copyOf(Require.elements("steps", steps));
        if (members.size() > join.expectedSteps()) {
            throw new IllegalArgumentException("expected at most the " + join.expectedSteps()
                    + " steps of the join, got " + members.size() + "; let it expect as many");
        }
        members.stream()
                .map(OutboxEntry::join)
                .filter(Objects::nonNull)
                .findFirst()
                .ifPresent(other -> {
                    throw new IllegalArgumentException("expected steps that are of no join yet, got one of join "
                            + other + "; attach it to the other one afterwards");
                });
        return new FanOut(new JoinIdentifier(ids.next()), ids.next(), join, ids.next(members.size()), members);
    }

    String what() {
        return "fan out to " + steps.size() + " messages";
    }
}
