package dev.windlass.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.internal.queue.Position;
import dev.windlass.internal.queue.WorkStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class SweepsTest {
    private static final Position BOUND = new Position(Instant.EPOCH, UUID.randomUUID());
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final Sweeps sweeps = new Sweeps();

    private static List<WorkStore.Demand> demands(String... topics) {
        return Stream.of(topics)
                .map(topic -> new WorkStore.Demand(topic, 1, BOUND))
                .toList();
    }

    /** The topics that a claim at this time looks for from the start. */
    private List<String> swept(long at, String... topics) {
        return sweeps.in(demands(topics), at).stream()
                .filter(demand -> demand.isFromStart())
                .map(WorkStore.Demand::topic)
                .toList();
    }

    private void claim(long began, long ended, String... topics) {
        sweeps.done(sweeps.in(demands(topics), began), sweeps.timesMadeDue(), began, ended);
    }

    @Test
    void eachTopicIsSweptAtFirstAndThenEveryTenSeconds() {
        assertThat(swept(0, "a", "b")).containsExactly("a", "b");
        claim(0, 1, "a", "b");
        assertThat(swept(9 * SECOND, "a", "b")).isEmpty();
        claim(9 * SECOND, 9 * SECOND, "a", "b");
        assertThat(swept(11 * SECOND, "a", "b")).containsExactly("a", "b");
    }

    @Test
    void aTopicThatWasNotAskedForStaysDue() {
        claim(0, 1, "a");
        assertThat(swept(SECOND, "a", "b")).containsExactly("b");
    }

    @Test
    void aSweepThatTookLongIsNotRepeatedSoon() {
        claim(0, 60 * SECOND, "a");
        assertThat(swept(61 * SECOND, "a")).isEmpty();
        assertThat(swept(359 * SECOND, "a")).isEmpty();
        assertThat(swept(361 * SECOND, "a")).containsExactly("a");
    }

    @Test
    void aClaimFromTheBoundThatTookLongPutsOffNothing() {
        claim(0, 1, "a");
        claim(SECOND, 61 * SECOND, "a");
        assertThat(swept(61 * SECOND, "a")).containsExactly("a");
    }

    @Test
    void aSweepUnderWayDoesNotCountForWhatBecameDueMeanwhile() {
        int before = sweeps.timesMadeDue();
        List<WorkStore.Demand> underWay = sweeps.in(demands("a"), 0);
        sweeps.allDue();
        sweeps.done(underWay, before, 0, SECOND);
        assertThat(swept(SECOND, "a")).containsExactly("a");
        sweeps.done(underWay, sweeps.timesMadeDue(), SECOND, SECOND);
        assertThat(swept(SECOND, "a")).isEmpty();
    }

    /** A claim beside it may have passed what it had locked. */
    @Test
    void whatAClaimThatFailedTookFromTheBoundIsDueAtOnceAndItsSweepsAreNot() {
        claim(0, 1, "a");
        List<WorkStore.Demand> failing = sweeps.in(demands("a", "b"), SECOND);
        int before = sweeps.timesMadeDue();

        sweeps.failed(failing, SECOND, SECOND);

        assertThat(swept(SECOND, "a", "b")).containsExactly("a");
        sweeps.done(sweeps.in(demands("a"), SECOND), before, SECOND, SECOND);
        assertThat(swept(SECOND, "a")).as("to one that began before").containsExactly("a");
        sweeps.failed(sweeps.in(demands("a"), SECOND), SECOND, SECOND);
        assertThat(swept(2 * SECOND, "a", "b")).isEmpty();
    }

    @Test
    void afterAnOutageAllAreDueAtOnce() {
        claim(0, 1, "a", "b");
        sweeps.allDue();
        assertThat(swept(SECOND, "a", "b")).containsExactly("a", "b");
    }
}
