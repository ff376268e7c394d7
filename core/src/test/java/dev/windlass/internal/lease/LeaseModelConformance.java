package dev.windlass.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.lease.LeaseState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random steps on leases and permits, beside a model of who holds what: every answer is the one that the model expects. One
 * thread, so a seed repeats a run; give it as the system property {@code windlass.seed}.
 */
@Timeout(60)
@OnEveryEngine
final class LeaseModelConformance extends LeaseConformance {
    private static final int STEPS = 300;
    private static final List<String> NAMES = List.of("a", "b");
    private static final int[] PERMITS = {0, 2};

    /** An acquisition that was once granted, whatever has become of it. */
    private static final class Held {
        final LeaseClaim claim;
        final long token;
        boolean valid = true;

        Held(LeaseClaim claim, long token) {
            this.claim = claim;
            this.token = token;
        }

        String key() {
            return claim.toString();
        }
    }

    private final List<Held> granted = new ArrayList<>();
    private final Map<String, Long> lastToken = new HashMap<>();
    private final List<String> steps = new ArrayList<>();
    private Random random = new Random();

    static LongStream seeds() {
        Long given = Long.getLong("windlass.seed");
        return given != null ? LongStream.of(given) : new Random().longs(6);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyAnswerIsTheOneThatTheModelExpects(long seed) throws SQLException {
        random = new Random(seed);
        steps.add("seed " + seed);
        for (int i = 0; i < STEPS; i++) {
            step();
            compare();
        }
    }

    private void step() throws SQLException {
        switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> acquire();
            case 4 -> acquireAgain(any());
            case 5, 6 -> renew(any());
            case 7, 8 -> release(any());
            default -> expire(any());
        }
    }

    private @Nullable Held any() {
        return granted.isEmpty() ? null : granted.get(random.nextInt(granted.size()));
    }

    private long holders(String key) {
        return granted.stream()
                .filter(each -> each.valid && each.key().equals(key))
                .count();
    }

    private void acquire() throws SQLException {
        LeaseClaim claim = new LeaseClaim(
                NAMES.get(random.nextInt(NAMES.size())),
                PERMITS[random.nextInt(PERMITS.length)],
                "owner",
                LONG,
                UUID.randomUUID());
        boolean free = holders(claim.toString()) < Math.max(1, claim.permits());
        AcquireAnswer answer = ask(claim);
        say("acquire", claim, answer.acquired());
        assertThat(answer.acquired()).as("%s", steps).isEqualTo(free);
        if (free) {
            granted.add(new Held(claim, answer.fencingToken()));
            Long before = lastToken.put(claim.toString(), answer.fencingToken());
            assertThat(answer.fencingToken()).as("%s", steps).isGreaterThan(before == null ? 0 : before);
        }
    }

    /** A lost answer: whoever holds it gets it again; whoever held it is one more who wants it. */
    private void acquireAgain(@Nullable Held held) throws SQLException {
        if (held != null && held.valid) {
            AcquireAnswer answer = ask(held.claim);
            say("acquire again", held.claim, answer.acquired());
            assertThat(answer.acquired()).as("%s", steps).isTrue();
            assertThat(answer.fencingToken()).as("%s", steps).isEqualTo(held.token);
        }
    }

    private AcquireAnswer ask(LeaseClaim claim) throws SQLException {
        boolean waits = random.nextBoolean();
        return database().routines().once(connection -> store().acquire(connection, claim, waits ? LONG : null));
    }

    private void renew(@Nullable Held held) throws SQLException {
        if (held != null) {
            boolean renewed = database()
                    .routines()
                    .once(connection -> store().renew(connection, List.of(held.claim)))
                    .values()
                    .iterator()
                    .next()
                    .renewed();
            say("renew", held.claim, renewed);
            assertThat(renewed).as("%s", steps).isEqualTo(held.valid);
        }
    }

    private void release(@Nullable Held held) throws SQLException {
        if (held != null) {
            boolean released = database().routines().once(connection -> store().release(connection, held.claim))
                    == LeaseStore.Release.DONE;
            say("release", held.claim, released);
            if (held.valid) {
                assertThat(released).as("%s", steps).isTrue();
            }
            held.valid = false;
        }
    }

    private void expire(@Nullable Held held) {
        if (held != null && held.valid) {
            say("expire", held.claim, true);
            database().update("update %s.lease set expires_at = acquired_at where holder = ?", held.claim.holder());
            held.valid = false;
        }
    }

    /** What can be seen is what the model holds. */
    private void compare() {
        List<Long> tokens = leases.list().stream()
                .filter(LeaseState::held)
                .map(LeaseState::fencingToken)
                .toList();
        assertThat(tokens)
                .as("%s", steps)
                .containsExactlyInAnyOrderElementsOf(granted.stream()
                        .filter(each -> each.valid)
                        .map(each -> each.token)
                        .toList());
    }

    private void say(String verb, LeaseClaim claim, boolean answer) {
        steps.add(verb + " " + claim + " " + claim.holder().toString().substring(24) + " " + answer);
    }
}
