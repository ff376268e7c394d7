package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.dispatch.Handling;
import dev.windlass.internal.event.Events;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What listeners hear of outcomes whose first write had no answer. */
@SuppressWarnings("try") // a node is there to run, not to be called
final class LostOutcomeEventsTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<WindlassEvent> heard = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean lost = new AtomicBoolean();

    /** Writes outcomes, and loses the answer to the first write. */
    private final HinderedStore losing = new HinderedStore(database) {
        @Override
        public Answer fail(Connection connection, List<Ending> endings) throws SQLException {
            return loseFirst(super.fail(connection, endings));
        }

        @Override
        public Answer abandon(Connection connection, List<Failure> failures) throws SQLException {
            return loseFirst(super.abandon(connection, failures));
        }

        private Answer loseFirst(Answer answer) throws SQLException {
            if (lost.compareAndSet(false, true)) {
                throw lostAnswer();
            }
            return answer;
        }
    };

    private HinderedNode node(Handling.Handler<OutboxMessage> handler) {
        Events events = new Events() {
            @Override
            public boolean areHeard() {
                return true;
            }

            @Override
            public void tell(WindlassEvent event) {
                heard.add(event);
            }
        };
        return new HinderedNode(database, losing, LEASE, new Handling<>(handler, HandlerOptions.defaults()), events);
    }

    private long heard(Class<? extends WindlassEvent> kind) {
        return heard.stream().filter(kind::isInstance).count();
    }

    /** The row keeps the token of who ended it: so it is known whose dead letter it is. */
    @Test
    void aDeadLetterIsToldOnceThoughTheFirstAnswerWasLost() {
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        try (HinderedNode node = node((message, cancellation) -> {
            throw new PermanentFailure("no");
        })) {
            eventually().until(() -> heard(WindlassEvent.Settled.class) == 1);
        }
        assertThat(lost).isTrue();
        assertThat(heard(WindlassEvent.DeadLettered.class)).isEqualTo(1);
        assertThat(heard(WindlassEvent.ClaimsLost.class)).isZero();
    }

    /** A message that is ready has no owner: who made it ready is not known, and nothing is said. */
    @Test
    void aRetryWhoseAnswerWasLostIsNeitherInventedNorCalledLost() {
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        try (HinderedNode node = node((message, cancellation) -> {
            throw new RetryAfter(Duration.ofHours(1), "later");
        })) {
            eventually().until(() -> heard(WindlassEvent.Settled.class) == 1);
        }
        assertThat(lost).isTrue();
        assertThat(heard(WindlassEvent.Retried.class)).isZero();
        assertThat(heard(WindlassEvent.ClaimsLost.class)).isZero();
    }

    /** Or a node that works in vain would look like one that keeps up. */
    @Test
    void whatHasGoneToSomebodyElseIsNotToldAsWritten() {
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        try (HinderedNode node = node((message, cancellation) -> database.update(
                "update %s.outbox set owner_token = gen_random_uuid(), locked_until = now() + interval '1 h'"))) {
            eventually().until(() -> heard(WindlassEvent.ClaimsLost.class) == 1);
        }
        assertThat(heard(WindlassEvent.Settled.class)).isZero();
    }
}
