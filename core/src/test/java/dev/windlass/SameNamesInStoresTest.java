package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.Enqueued;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.lease.Lease;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.store.Store;
import dev.windlass.work.WorkEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All stores use the same names, keys and ids at once, for every feature: none of it is seen by another store. */
final class SameNamesInStoresTest {
    private static final int STORES = 6;
    private static final Duration LONG = Duration.ofHours(1);

    @RegisterExtension
    static final TestStores databases = new TestStores("names", STORES);

    /** What was handled, under the store whose handler it was, with how often. */
    private final Map<String, Integer> handled = new ConcurrentHashMap<>();

    private final ExecutorService threads = Executors.newFixedThreadPool(STORES);
    private final Fleet fleet = Fleet.over(databases.all()).each(this::describe).start();

    @AfterEach
    void close() {
        threads.shutdownNow();
        fleet.close();
    }

    private void describe(Store store, WindlassBuilder windlass) {
        windlass.options(WindlassOptions.defaults().withShutdownGrace(Duration.ofSeconds(5)))
                .outboxHandler("step", message -> note(store, message.payload()))
                .outboxHandler("joined", message -> note(store, message.payload()))
                .outboxHandler("reminder", message -> note(store, message.payload()))
                .inboxHandler("in", message -> note(store, message.payload()))
                .workHandler("queue", "type", item -> note(store, item.payload()))
                .job(Job.every("job", LONG), message -> note(store, "job"));
    }

    private void note(Store store, String what) {
        handled.merge(store.id() + ": " + what, 1, Integer::sum);
    }

    /** In all stores at once, each by a thread of its own. Returns what came of each. */
    private <T> List<T> inEach(BiFunction<String, Windlass, T> step) throws Exception {
        List<Callable<T>> steps = new ArrayList<>();
        for (int i = 0; i < STORES; i++) {
            String id = databases.id(i);
            steps.add(() -> step.apply(id, fleet.at(id)));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> each : threads.invokeAll(steps)) {
            results.add(each.get());
        }
        return results;
    }

    /** This of each store, once, in this store and in no other. */
    private void awaitOnceInEach(String... whats) {
        Map<String, Integer> expected = new ConcurrentHashMap<>();
        for (int i = 0; i < STORES; i++) {
            for (String what : whats) {
                expected.put(databases.id(i) + ": " + what.replace("#", databases.id(i)), 1);
            }
        }
        eventually().untilAsserted(() -> assertThat(handled).containsExactlyInAnyOrderEntriesOf(expected));
    }

    private Windlass first() {
        return fleet.at(databases.id(0));
    }

    private List<Windlass> others() {
        return IntStream.range(1, STORES)
                .mapToObj(i -> fleet.at(databases.id(i)))
                .toList();
    }

    @Test
    void aJoinCountsTheStepsOfItsOwnStore() throws Exception {
        inEach((id, windlass) -> windlass.outbox()
                .fanOut(
                        JoinEntry.of(3)
                                .withGroupingKey("group")
                                .withFollowUp(FollowUp.completed("joined", "all of " + id)),
                        List.of(
                                OutboxEntry.of("step", "1 of " + id),
                                OutboxEntry.of("step", "2 of " + id),
                                OutboxEntry.of("step", "3 of " + id))));
        awaitOnceInEach("1 of #", "2 of #", "3 of #", "all of #");
    }

    @Test
    void aTimerIsCancelledInItsOwnStore() throws Exception {
        inEach((id, windlass) -> windlass.timers()
                .schedule(TimerEntry.of("reminder", "of " + id, LONG).ifAbsent("key")));
        assertThat(first().timers().cancel("reminder", "key")).isTrue();
        assertThat(others())
                .allMatch(windlass -> windlass.timers().find("reminder", "key").isPresent());
        inEach((id, windlass) -> windlass.timers()
                .schedule(TimerEntry.of("reminder", "now, of " + id, Duration.ZERO)
                        .replacing("key")));
        awaitOnceInEach("now, of #");
    }

    @Test
    void aJobIsPausedInItsOwnStore() throws Exception {
        assertThat(first().jobs().pause("job")).isTrue();
        assertThat(others())
                .allMatch(windlass -> !windlass.jobs().find("job").orElseThrow().isPaused());
        assertThat(first().jobs().resume("job")).isTrue();
        inEach((id, windlass) -> windlass.jobs().trigger("job"));
        awaitOnceInEach("job");
        assertThat(others())
                .allMatch(windlass -> windlass.jobs().runs("job", 10).size() == 1);
    }

    @Test
    void aLeaseIsHeldInItsOwnStore() throws Exception {
        List<Lease> held = inEach(
                (id, windlass) -> windlass.leases().tryAcquire("lease", LONG).orElseThrow());
        assertThat(inEach((id, windlass) -> windlass.leases().tryAcquire("lease", LONG)))
                .allMatch(Optional::isEmpty);
        held.get(0).close();
        assertThat(others())
                .allMatch(
                        windlass -> windlass.leases().tryAcquire("lease", LONG).isEmpty());
        assertThat(first().leases().tryAcquire("lease", LONG)).isPresent();
        held.forEach(Lease::close);
    }

    @Test
    void aMessageThatComesTwiceIsKnownInItsOwnStore() throws Exception {
        assertThat(inEach(SameNamesInStoresTest::deliver)).allMatch(Enqueued::isNew);
        assertThat(inEach(SameNamesInStoresTest::deliver)).noneMatch(Enqueued::isNew);
        awaitOnceInEach("of #");
    }

    private static Enqueued deliver(String id, Windlass windlass) {
        return windlass.inbox().enqueue(InboxEntry.of("source", "id", "in", "of " + id));
    }

    @Test
    void anItemIsUniqueAndAQueuePausedInItsOwnStore() throws Exception {
        inEach((id, windlass) -> windlass.workQueue().operator("test").pause("queue", "until all is written"));
        inEach((id, windlass) -> windlass.workQueue()
                .enqueueAll(List.of(
                        WorkEntry.of("queue", "type", "of " + id).ifAbsent("key"),
                        WorkEntry.of("queue", "type", "a second of " + id).ifAbsent("key"))));
        assertThat(first().workQueue().operator("test").resume("queue")).isTrue();
        eventually().until(() -> !handled.isEmpty());
        assertThat(handled).containsOnlyKeys(databases.id(0) + ": of " + databases.id(0));
        others().forEach(windlass -> windlass.workQueue().operator("test").resume("queue"));
        awaitOnceInEach("of #");
    }
}
