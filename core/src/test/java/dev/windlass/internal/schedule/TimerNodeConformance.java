package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.Feature;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that hand timers off. */
@OnEveryEngine
final class TimerNodeConformance extends TimerConformance {
    private final Queue<String> handled = new ConcurrentLinkedQueue<>();

    private Windlass handling() {
        return database().start(database().windlass().outboxHandler("a", message -> handled.add(message.payload())));
    }

    /** Nothing but timers makes it look, and those each half a minute. */
    private Windlass sleeping() {
        return database()
                .start(database()
                        .windlass()
                        .only(Feature.OUTBOX, Feature.SCHEDULE)
                        .options(database().options().withMaxPollingInterval(Duration.ofMinutes(10)))
                        .outbox(OutboxOptions.defaults().withLease(Duration.ofHours(1)))
                        .schedule(ScheduleOptions.defaults().withLease(Duration.ofHours(1)))
                        .outboxHandler("a", message -> handled.add(message.payload())));
    }

    @Test
    void aTimerThatIsDueReachesTheHandlerOfItsTopic() {
        Windlass node = handling();
        node.timers().schedule(TimerEntry.of("a", "soon", Duration.ofMillis(300)));
        node.timers().schedule(TimerEntry.of("a", "never", LATER));

        eventually().until(() -> handled.contains("soon"));
        assertThat(count("outbox_timer")).isEqualTo(1);
    }

    /** The node sleeps until the next due time, or for half a minute: without a wake-up, three rounds would take a minute. */
    @Test
    @Timeout(40)
    void anEarlierTimerOfAnotherProcessWakesANodeThatSleeps() {
        Windlass node = sleeping();
        node.timers().schedule(TimerEntry.of("a", "late", LATER));
        for (int round = 1; round <= 3; round++) {
            String n = " " + round;
            timers.schedule(TimerEntry.of("a", "one" + n, Duration.ofMillis(200)));
            eventually().until(() -> handled.contains("one" + n));
            timers.schedule(TimerEntry.of("a", "two" + n, database().now().plusMillis(200)));
            eventually().until(() -> handled.contains("two" + n));
            timers.scheduleAll(List.of(
                    TimerEntry.of("a", "three" + n, Duration.ofMillis(200)),
                    TimerEntry.of("a", "four" + n, Duration.ofMillis(1)).replacing("k")));
            eventually().until(() -> handled.containsAll(List.of("three" + n, "four" + n)));
        }
    }

    /** In three rounds, too. */
    @Test
    @Timeout(40)
    void aTimerInACallersTransactionFiresAfterItsCommit() throws Exception {
        Windlass node = sleeping();
        for (int round = 1; round <= 3; round++) {
            String n = " " + round;
            commits(timers, "other process" + n);
            commits(node.timers(), "own commit" + n);
            node.inTransaction(connection ->
                    node.timers().schedule(connection, TimerEntry.of("a", "in transaction" + n, Duration.ZERO)));
            eventually().until(() -> handled.contains("in transaction" + n));
        }
    }

    private void commits(Timers writing, String payload) throws SQLException {
        try (Connection connection = database().transaction()) {
            writing.schedule(connection, TimerEntry.of("a", payload, Duration.ZERO));
            connection.commit();
        }
        eventually().until(() -> handled.contains(payload));
    }

    /**
     * A timer that is far away tells nobody, so nobody hears of the commit that brings it when it is nearly due. Here it is near,
     * and does not tell either.
     */
    @Test
    void aTimerOfALongTransactionIsFoundSoonAfterItsCommit() throws SQLException {
        Windlass node = handling();
        try (Connection connection = database().transaction()) {
            TimerEntry entry = TimerEntry.of("a", "long", Duration.ZERO);
            new TimerStore(database().routines(), "outbox", "test")
                    .schedule(connection, UUID.randomUUID(), entry, false);
            for (String looks : new String[] {"one", "two", "three"}) {
                timers.schedule(TimerEntry.of("a", looks, Duration.ofSeconds(1)));
                eventually().until(() -> handled.contains(looks));
            }
            connection.commit();
        }
        eventually().atMost(Duration.ofSeconds(15)).until(() -> handled.contains("long"));
        node.close();
    }

    @Test
    @Timeout(40)
    void aRescheduledTimerWakesANodeThatSleeps() {
        sleeping();
        for (String payload : List.of("one", "two", "three")) {
            TimerIdentifier id = timers.schedule(TimerEntry.of("a", payload, LATER));
            assertThat(timers.reschedule(id, database().now())).isTrue();
            eventually().until(() -> handled.contains(payload));
        }
    }

    @Test
    void aTimerThatSomebodyTriedToCancelFiresAfterHeGaveUp() throws SQLException {
        handling();
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "kept", Duration.ofMillis(100)));
        try (Connection connection = database().transaction()) {
            assertThat(timers.cancel(connection, id)).isTrue();
            timers.schedule(TimerEntry.of("a", "next", Duration.ofMillis(200)));
            eventually().until(() -> handled.contains("next"));
            connection.rollback();
        }
        eventually().until(() -> handled.contains("kept"));
    }

    @Test
    void aNodeWithoutTheHandOffLeavesTimersToThoseWhoClaimThem() {
        Windlass node = database()
                .start(database()
                        .windlass()
                        .schedule(ScheduleOptions.defaults().withHandOff(false))
                        .outboxHandler("a", message -> handled.add(message.payload())));
        node.timers().schedule(TimerEntry.of("a", "mine", Duration.ZERO));
        node.outbox().enqueue(dev.windlass.outbox.OutboxEntry.of("a", "message"));

        eventually().until(() -> handled.contains("message"));
        assertThat(node.timers().claim(dev.windlass.base.OwnerToken.fresh(), Duration.ofMinutes(1), 10))
                .extracting(Timer::payload)
                .containsExactly("mine");
    }

    /** Cancelled means never delivered; delivered means that the cancellation says false. */
    @Test
    void cancellationsThatRaceWithTheHandOffTellTheTruth() throws Exception {
        handling();
        node();
        int total = 600;
        List<TimerIdentifier> ids = timers.scheduleAll(IntStream.range(0, total)
                .mapToObj(n -> TimerEntry.of("a", Integer.toString(n), Duration.ofMillis(n % 300)))
                .toList());
        Set<Integer> cancelled = Collections.synchronizedSet(new HashSet<>());
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                int first = t;
                ends.add(threads.submit(() -> {
                    for (int n = first; n < total; n += 3) {
                        if (timers.cancel(ids.get(n))) {
                            cancelled.add(n);
                        }
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            threads.shutdownNow();
        }
        eventually().until(() -> handled.size() + cancelled.size() >= total);

        Set<Integer> delivered = new HashSet<>();
        handled.forEach(payload -> delivered.add(Integer.valueOf(payload)));
        assertThat(handled).hasSize(delivered.size());
        assertThat(Collections.disjoint(delivered, cancelled)).isTrue();
        assertThat(delivered.size() + cancelled.size()).isEqualTo(total);
        assertThat(count("outbox_timer")).isZero();
    }

    @Test
    void severalNodesHandEachTimerOffOnce() {
        for (int n = 0; n < 3; n++) {
            database()
                    .start(database()
                            .windlass()
                            .schedule(ScheduleOptions.defaults().withBatchSize(7)));
        }
        List<TimerIdentifier> ids = timers.scheduleAll(IntStream.range(0, 1000)
                .mapToObj(n -> TimerEntry.of("a", "", Duration.ofMillis(n / 2)))
                .toList());
        eventually().until(() -> count("outbox_timer") == 0);
        assertThat(count("outbox")).isEqualTo(1000);
        Set<UUID> messages = new HashSet<>();
        writer.outbox()
                .claim(dev.windlass.base.OwnerToken.fresh(), Duration.ofMinutes(1), 2000)
                .forEach(message -> messages.add(message.id().value()));
        assertThat(messages)
                .isEqualTo(
                        new HashSet<>(ids.stream().map(TimerIdentifier::value).toList()));
    }

    @Test
    void timersOfOneKeyThatAreWrittenAtOnceAreOne() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<Set<TimerIdentifier>>> answers = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                boolean replaces = t % 2 == 0;
                answers.add(threads.submit(() -> {
                    Set<TimerIdentifier> ids = new HashSet<>();
                    for (int n = 0; n < 50; n++) {
                        TimerEntry entry = TimerEntry.of("a", "", LATER);
                        ids.add(timers.schedule(replaces ? entry.replacing("k") : entry.ifAbsent("k")));
                        timers.scheduleAll(List.of(
                                entry.replacing("x" + n % 3), entry.replacing("y" + n % 2), entry.ifAbsent("z")));
                    }
                    return ids;
                }));
            }
            Set<TimerIdentifier> all = new HashSet<>();
            for (Future<Set<TimerIdentifier>> answer : answers) {
                all.addAll(answer.get());
            }
            assertThat(all).hasSize(1);
            assertThat(count("outbox_timer")).isEqualTo(1 + 3 + 2 + 1);
        } finally {
            threads.shutdownNow();
        }
    }
}
