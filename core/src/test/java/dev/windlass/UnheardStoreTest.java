package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.Feature;
import dev.windlass.base.WindlassOptions;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.store.FleetOptions;
import dev.windlass.work.WorkEntry;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A store that keeps no connection hears of nothing. What its own process commits starts at once all the same. */
final class UnheardStoreTest {
    @RegisterExtension
    static final TestStores databases = new TestStores("unheard", 2);

    private final Set<String> handled = ConcurrentHashMap.newKeySet();

    /** One of the two stores keeps the only connection. Looks come seldom, so that only a call can wake a claimer. */
    private final Fleet fleet = Fleet.over(databases.all())
            .options(FleetOptions.defaults().withKeptConnections(1))
            .each((store, windlass) -> windlass.only(Feature.OUTBOX, Feature.WORK)
                    .options(WindlassOptions.defaults()
                            .withShutdownGrace(Duration.ofSeconds(5))
                            .withMaxPollingInterval(Duration.ofMinutes(10)))
                    .outbox(OutboxOptions.defaults().withLease(Duration.ofMinutes(10)))
                    .outboxHandler("step", message -> handled.add(store.id() + " step"))
                    .outboxHandler("joined", message -> handled.add(store.id() + ' ' + message.payload()))
                    .workHandler("queue", "type", item -> handled.add(store.id() + " item")))
            .start();

    @AfterEach
    void close() {
        fleet.close();
    }

    @Test
    void whatFollowsAJoinStartsWhenItsLastStepHasEnded() {
        for (int i = 0; i < 2; i++) {
            fleet.at(databases.id(i))
                    .outbox()
                    .fanOut(
                            JoinEntry.of(1).withFollowUp(FollowUp.completed("joined", "messages")),
                            List.of(OutboxEntry.of("step", "")));
        }
        for (int i = 0; i < 2; i++) {
            String store = databases.id(i);
            eventually().untilAsserted(() -> assertThat(handled).contains(store + " step", store + " messages"));
        }
    }

    @Test
    void whatFollowsAJoinOfAnotherQueueStartsToo() {
        for (int i = 0; i < 2; i++) {
            Windlass windlass = fleet.at(databases.id(i));
            windlass.workQueue()
                    .enqueue(WorkEntry.of("queue", "type", "")
                            .withJoin(windlass.joins()
                                    .start(JoinEntry.of(1).withFollowUp(FollowUp.completed("joined", "items")))));
        }
        for (int i = 0; i < 2; i++) {
            String store = databases.id(i);
            eventually().untilAsserted(() -> assertThat(handled).contains(store + " item", store + " items"));
        }
    }
}
