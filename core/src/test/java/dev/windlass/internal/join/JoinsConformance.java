package dev.windlass.internal.join;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.Joins;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common: a node that only writes, whose messages are claimed by the tests. */
abstract class JoinsConformance {
    static final Duration LEASE = Duration.ofMinutes(5);
    static final FollowUp FOLLOW_UP = FollowUp.completed("done", "well").withFailed("undone", "badly");

    Outbox outbox;
    Joins joins;

    private EngineDatabase database;

    @BeforeEach
    void startWithoutBackgroundWork(EngineDatabase database) {
        this.database = database;
        use(OutboxOptions.defaults());
    }

    final EngineDatabase database() {
        return database;
    }

    final void use(OutboxOptions options) {
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withBackgroundWorkers(false))
                .outbox(options));
        outbox = windlass.outbox();
        joins = windlass.joins();
    }

    /** Acks delete from now on. */
    final void keepNothing() {
        use(OutboxOptions.defaults().withRetention(Duration.ZERO));
    }

    final JoinIdentifier started(int steps) {
        return joins.start(JoinEntry.of(steps).withFollowUp(FOLLOW_UP));
    }

    final OutboxMessageIdentifier step() {
        return outbox.enqueue(OutboxEntry.of("step", "{}"));
    }

    final OutboxMessageIdentifier stepOf(JoinIdentifier join) {
        return outbox.enqueue(OutboxEntry.of("step", "{}").withJoin(join));
    }

    static List<OutboxEntry> steps(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> OutboxEntry.of("step", "step " + i))
                .toList();
    }

    /** Acks all that is ready, follow-ups included. */
    final void ackAll() {
        OwnerToken owner = OwnerToken.fresh();
        outbox.ack(owner, claim(owner));
    }

    final void failAll() {
        OwnerToken owner = OwnerToken.fresh();
        outbox.fail(owner, claim(owner), "no");
    }

    final List<OutboxWorkItemIdentifier> claim(OwnerToken owner) {
        return outbox.claim(owner, LEASE, 10_000).stream()
                .map(OutboxMessage::id)
                .toList();
    }

    static OutboxWorkItemIdentifier item(OutboxMessageIdentifier id) {
        return new OutboxWorkItemIdentifier(id.value());
    }

    static List<OutboxWorkItemIdentifier> items(Collection<OutboxMessageIdentifier> ids) {
        return ids.stream().map(JoinsConformance::item).toList();
    }

    final Join stored(JoinIdentifier join) {
        return joins.find(join).orElseThrow();
    }

    /** As "completed + failed of expected". */
    final String counted(JoinIdentifier join) {
        Join stored = stored(join);
        return stored.completedSteps() + " + " + stored.failedSteps() + " of " + stored.expectedSteps();
    }

    /** The follow-ups that have been written, by topic. */
    final List<String> followUps() {
        return database.rows(
                "select topic, payload from %s.outbox where topic in ('done', 'undone') order by topic, id");
    }
}
