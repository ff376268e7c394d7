package dev.windlass.internal.join;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins whose steps end, or are attached, in many transactions at once. */
@OnEveryEngine
final class JoinRaceConformance extends JoinsConformance {
    private static final int WORKERS = 6;

    private final ExecutorService threads = Executors.newFixedThreadPool(WORKERS);

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    private void inParallel(List<? extends Callable<?>> work) throws Exception {
        List<Future<?>> running = new ArrayList<>();
        for (Callable<?> each : work) {
            running.add(threads.submit(each));
        }
        for (Future<?> each : running) {
            each.get();
        }
    }

    @Test
    void stepsThatEndAtOnceAreAllCountedAndOneMessageFollows() throws Exception {
        int steps = 120;
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(steps).withFollowUp(FOLLOW_UP), steps(steps));
        List<Callable<Integer>> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            workers.add(() -> {
                int acked = 0;
                while (true) {
                    OwnerToken owner = OwnerToken.fresh();
                    var ids = outbox.claim(owner, LEASE, 3).stream()
                            .filter(message -> message.topic().equals("step"))
                            .map(message -> message.id())
                            .toList();
                    if (ids.isEmpty()) {
                        return acked;
                    }
                    acked += outbox.ack(owner, ids);
                }
            });
        }

        inParallel(workers);

        assertThat(counted(join)).isEqualTo(steps + " + 0 of " + steps);
        assertThat(stored(join).status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(followUps()).containsExactly("done well");
    }

    /** Appendix D: each message is written, and attached afterwards, while a node handles whatever is there. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStepIsNeverMissedHoweverLateItIsAttached(boolean kept) throws Exception {
        OutboxOptions options = OutboxOptions.defaults().withRetention(kept ? Duration.ofDays(1) : Duration.ZERO);
        Windlass node = database().start(database().windlass().outbox(options).outboxHandler("step", message -> {}));
        List<JoinIdentifier> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            JoinIdentifier join = started(WORKERS);
            all.add(join);
            List<Callable<Integer>> writers = new ArrayList<>();
            for (int writer = 0; writer < WORKERS; writer++) {
                writers.add(() -> {
                    OutboxMessageIdentifier id = node.outbox().enqueue(OutboxEntry.of("step", ""));
                    return node.outbox().attach(join, List.of(id));
                });
            }
            inParallel(writers);
        }

        eventually().until(() -> all.stream().allMatch(join -> stored(join).status() == JoinStatus.COMPLETED));
        assertThat(followUps()).hasSize(all.size());
    }

    @Test
    void manyStepsOfOneJoinAreCountedByANode() {
        int steps = 10_000;
        JoinIdentifier join = outbox.fanOut(JoinEntry.of(steps).withFollowUp(FOLLOW_UP), steps(steps));

        database()
                .start(database()
                        .windlass()
                        .outbox(OutboxOptions.defaults().withBatchSize(1000))
                        .outboxHandler("step", message -> {}));

        eventually().until(() -> stored(join).status() == JoinStatus.COMPLETED);
        assertThat(counted(join)).isEqualTo(steps + " + 0 of " + steps);
        assertThat(followUps()).containsExactly("done well");
    }
}
