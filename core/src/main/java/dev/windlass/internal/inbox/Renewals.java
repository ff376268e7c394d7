package dev.windlass.internal.inbox;

import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.support.InWords;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of work that goes on, every third of a lease, all in one call on the connection that the node keeps. Short work never
 * comes to it, and costs nothing.
 */
final class Renewals {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final Duration SHORTEST_CALL = Duration.ofSeconds(1);
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Database database;
    private final GuardStore store;
    private final Duration lease;
    private final Duration period;
    private final Duration atMost;
    private final Node node;
    private final Duration answer;
    private final Set<Term> terms = ConcurrentHashMap.newKeySet();
    private final Loop loop;

    Renewals(Database database, GuardStore store, Duration lease, Duration atMost, Node node) {
        this.store = store;
        this.lease = lease;
        this.period = lease.dividedBy(3);
        this.atMost = atMost;
        this.database = database;
        this.node = node;
        this.answer = longestCall(period);
        this.loop = new Loop("[" + database.name() + "] renewing leases of the guard", node.workers(), this::renew);
    }

    private static Duration longestCall(Duration period) {
        if (period.compareTo(SHORTEST_CALL) < 0) {
            return SHORTEST_CALL;
        }
        return period.compareTo(LONGEST_CALL) < 0 ? period : LONGEST_CALL;
    }

    /** Renews the attempt's lease until the term ends, or has lasted too long. */
    Term open(InboxAttempt attempt) {
        Term term = new Term(attempt, System.nanoTime());
        if (!atMost.isZero()) {
            terms.add(term);
            node.use(this, answer);
            node.busy();
            loop.start();
            loop.wakeWithin(period);
        }
        return term;
    }

    private Duration renew() throws SQLException {
        long now = System.nanoTime();
        List<Term> due = terms.stream().filter(term -> term.isDue(now)).toList();
        due.forEach(term -> endIfTooLong(term, now));
        List<Term> going = due.stream().filter(terms::contains).toList();
        if (!going.isEmpty()) {
            List<InboxAttempt> attempts =
                    going.stream().map(term -> term.attempt).toList();
            node.busy();
            List<GuardStore.Renewal> answers =
                    node.call(answer, connection -> store.renew(connection, attempts, lease));
            for (int i = 0; i < going.size(); i++) {
                settle(going.get(i), answers.get(i), now);
            }
        }
        if (terms.isEmpty()) {
            node.leave(this);
            if (!terms.isEmpty()) {
                node.use(this, answer);
            }
        }
        return untilNext();
    }

    private void endIfTooLong(Term term, long now) {
        if (now - term.begunAt >= atMost.toNanos() && terms.remove(term)) {
            log.warn(
                    "[{}] the work of attempt {} of message {} has not ended in {}; its lease is not renewed any more",
                    database.name(),
                    term.attempt.number(),
                    term.attempt.key(),
                    InWords.of(atMost));
        }
    }

    /** Work that has ended meanwhile is not renewed either; only that which goes on has lost its message. */
    private void settle(Term term, GuardStore.Renewal answer, long now) {
        switch (answer) {
            case RENEWED -> term.dueAt = now + period.toNanos();
            case LOCKED -> term.dueAt = now + period.toNanos() / 4;
            case LOST -> {
                if (terms.remove(term)) {
                    log.warn(
                            "[{}] lost the lease of message {} in attempt {}; if somebody else has taken it over, the work"
                                    + " is rolled back",
                            database.name(),
                            term.attempt.key(),
                            term.attempt.number());
                }
            }
        }
    }

    private Duration untilNext() {
        long now = System.nanoTime();
        return terms.stream()
                .map(term -> Duration.ofNanos(Math.max(0, term.dueAt - now)))
                .min(Duration::compareTo)
                .orElse(Loop.PARKED);
    }

    Loop loop() {
        return loop;
    }

    void stop() {
        terms.clear();
        loop.stop(PATIENCE);
    }

    /** The time in which one attempt's lease is renewed. */
    final class Term {
        private final InboxAttempt attempt;
        private final long begunAt;
        private volatile long dueAt;

        private Term(InboxAttempt attempt, long begunAt) {
            this.attempt = attempt;
            this.begunAt = begunAt;
            this.dueAt = begunAt + period.toNanos();
        }

        private boolean isDue(long now) {
            return dueAt - now <= 0;
        }

        void end() {
            terms.remove(this);
        }
    }
}
