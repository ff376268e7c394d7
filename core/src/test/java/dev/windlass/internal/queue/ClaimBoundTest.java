package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.internal.database.Proof;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class ClaimBoundTest {
    private final ClaimBound bound = new ClaimBound();

    private static Position at(long second) {
        return new Position(Instant.ofEpochSecond(second), new UUID(0, second));
    }

    private record Look(long number, long xmin) implements Proof {
        @Override
        public boolean covers(Proof earlier) {
            return xmin > ((Look) earlier).number;
        }
    }

    /** A claim with this transaction number and oldest running transaction, that took messages at these positions. */
    private static List<Claimed<String>> claim(long number, long xmin, long... seconds) {
        return LongStream.of(seconds)
                .mapToObj(s -> new Claimed<>(
                        new UUID(0, s),
                        new UUID(1, 1),
                        "a",
                        0,
                        0,
                        0,
                        0,
                        false,
                        false,
                        false,
                        4,
                        false,
                        1,
                        0,
                        at(s),
                        new Look(number, xmin),
                        "x",
                        null))
                .toList();
    }

    @Test
    void aPositionIsTakenOnlyWhenALaterClaimHasSeenAllThatWasRunning() {
        bound.advance(claim(100, 90, 3, 1, 2), false);
        assertThat(bound.position()).isEqualTo(Position.START);
        bound.advance(claim(101, 100, 4), false);
        assertThat(bound.position())
                .as("transaction 100 may still have been running")
                .isEqualTo(Position.START);
        bound.advance(claim(102, 101, 5), false);
        assertThat(bound.position()).isEqualTo(at(3));
    }

    @Test
    void aClaimThatDoesNotReachPastThePositionProvesNothing() {
        bound.advance(claim(100, 90, 3), false);
        bound.advance(claim(200, 150, 2), false);
        assertThat(bound.position()).isEqualTo(Position.START);
        bound.advance(claim(201, 150, 2), true);
        assertThat(bound.position()).as("it saw all that was due").isEqualTo(at(3));
    }

    @Test
    void theBoundNeverGoesBack() {
        bound.advance(claim(100, 90, 3), false);
        bound.advance(claim(110, 101, 4), false);
        assertThat(bound.position()).isEqualTo(at(3));
        bound.advance(claim(120, 111, 1), true);
        assertThat(bound.position()).isEqualTo(at(4));
        bound.advance(claim(130, 121, 2), true);
        bound.advance(claim(140, 131, 2), true);
        assertThat(bound.position()).isEqualTo(at(4));
    }

    @Test
    void anEmptyClaimChangesNothing() {
        bound.advance(claim(100, 90, 3), false);
        bound.advance(List.of(), true);
        assertThat(bound.position()).isEqualTo(Position.START);
    }

    @Test
    void resetForgetsTheCandidateToo() {
        bound.advance(claim(100, 90, 3), false);
        bound.advance(claim(110, 101, 4), false);
        bound.reset();
        assertThat(bound.position()).isEqualTo(Position.START);
        bound.advance(claim(120, 111, 5), false);
        assertThat(bound.position()).isEqualTo(Position.START);
    }
}
