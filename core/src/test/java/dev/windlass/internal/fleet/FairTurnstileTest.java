package dev.windlass.internal.fleet;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.Shows;
import dev.windlass.internal.loop.Turnstile;
import dev.windlass.internal.loop.Workers;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.StoreSelection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may claim next, with one claim at once and a thousand messages in hand. */
final class FairTurnstileTest {
    private static final FleetOptions ONE_AT_ONCE =
            FleetOptions.defaults().withClaimsAtOnce(1).withInHand(1000);

    private static final int BATCH = 250;

    private final Workers workers = new Workers();
    private final List<String> called = new ArrayList<>();

    @AfterEach
    void close() {
        workers.close();
    }

    private class Node implements Turnstile.Visitor {
        private final String store;

        Node(String store) {
            this.store = store;
        }

        @Override
        public String store() {
            return store;
        }

        @Override
        public int batchSize() {
            return BATCH;
        }

        @Override
        public void yourTurn() {
            synchronized (called) {
                called.add(store);
            }
        }
    }

    private final Node a = new Node("a");
    private final Node b = new Node("b");
    private final Node c = new Node("c");

    private Turnstile turnstile(StoreSelection selection) {
        return new FairTurnstile(ONE_AT_ONCE.withSelection(selection), workers);
    }

    /** A node counts what it has in hand under a lock, and tells of it while it has that; how much it claims depends on the same. */
    @Test
    void whoHasALockOfItsOwnIsNotAskedForThatByAnother() {
        Turnstile turnstile = turnstile(StoreSelection.roundRobin());
        Object own = new Object();
        Node locking = new Node("locking") {
            @Override
            public int batchSize() {
                synchronized (own) {
                    return BATCH;
                }
            }
        };
        assertThat(turnstile.enter(a)).isPositive();
        assertThat(turnstile.enter(locking)).isZero();
        synchronized (own) {
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> turnstile.leave(a, 1, false));
            CompletableFuture<Void> told = CompletableFuture.runAsync(() -> turnstile.inHand("locking", -1));
            assertThat(CompletableFuture.allOf(other, told)).succeedsWithin(Duration.ofSeconds(10));
        }
        assertThat(called).containsExactly("locking");
    }

    @Test
    @Shows({"OBX-067", "OBX-068"})
    void storesTakeTurnsWithABatchEach() {
        Turnstile turnstile = turnstile(StoreSelection.roundRobin());
        assertThat(turnstile.enter(a)).isPositive();
        assertThat(turnstile.enter(b)).isZero();
        assertThat(turnstile.enter(c)).isZero();
        turnstile.leave(a, 50, false);
        assertThat(called).containsExactly("b");
        assertThat(turnstile.enter(a)).as("there are others before it").isZero();
        assertThat(turnstile.enter(b)).isPositive();
        turnstile.leave(b, 50, false);
        assertThat(called).containsExactly("b", "c");
        assertThat(turnstile.enter(c)).isPositive();
        turnstile.leave(c, 0, false);
        assertThat(called).containsExactly("b", "c", "a");
    }

    @Test
    @Shows({"OBX-067", "OBX-069"})
    void aStoreIsDrainedBeforeTheNextIfThatIsWanted() {
        Turnstile turnstile = turnstile(StoreSelection.drainFirst());
        assertThat(turnstile.enter(a)).isPositive();
        assertThat(turnstile.enter(b)).isZero();
        turnstile.leave(a, 50, true);
        assertThat(called).containsExactly("a");
        assertThat(turnstile.enter(a)).isPositive();
        turnstile.leave(a, 50, true);
        assertThat(turnstile.enter(a)).isPositive();
        turnstile.leave(a, 0, false);
        assertThat(called).containsExactly("a", "a", "b");
    }

    @Test
    @Shows("OBX-069")
    void theSameAgainUntilItGivesNothing() {
        StoreSelection selection = StoreSelection.drainFirst();
        assertThat(selection.next(List.of("b", "a"), Optional.of("a"), 5)).isEqualTo("a");
        assertThat(selection.next(List.of("b", "a"), Optional.of("a"), 0)).isEqualTo("b");
        assertThat(selection.next(List.of("b", "c"), Optional.of("a"), 5)).isEqualTo("b");
        assertThat(selection.next(List.of("b"), Optional.empty(), 0)).isEqualTo("b");
    }

    @Test
    @Shows("OBX-067")
    void usersChooseForThemselvesAndABadChoiceHarmsNobody() {
        Turnstile turnstile = turnstile((waiting, last, count) -> waiting.get(waiting.size() - 1));
        assertThat(turnstile.enter(a)).isPositive();
        assertThat(turnstile.enter(b)).isZero();
        assertThat(turnstile.enter(c)).isZero();
        turnstile.leave(a, 1, false);
        assertThat(called).containsExactly("c");

        called.clear();
        try (Logs logs = Logs.collect(Level.WARN)) {
            Turnstile odd = turnstile((waiting, last, count) -> {
                if (waiting.size() > 1) {
                    throw new IllegalStateException("which one?");
                }
                return "nobody";
            });
            assertThat(odd.enter(a)).isPositive();
            assertThat(odd.enter(b)).isZero();
            assertThat(odd.enter(c)).isZero();
            odd.leave(a, 1, false);
            assertThat(called).containsExactly("b");
            assertThat(logs.count(Level.WARN, "the selection of stores")).isEqualTo(1);
        }
    }

    @Test
    void asMuchIsInHandAsMayBeAndClaimsDoNotBecomeSmall() {
        Turnstile turnstile = turnstile(StoreSelection.roundRobin());
        assertThat(turnstile.enter(a)).isEqualTo(BATCH);
        turnstile.inHand("a", 900);
        turnstile.inHand("b", 100);
        turnstile.leave(a, BATCH, false);
        assertThat(turnstile.enter(b)).isZero();
        turnstile.inHand("a", -124);
        assertThat(called).isEmpty();
        turnstile.inHand("a", -1);
        assertThat(called).containsExactly("b");
        assertThat(turnstile.enter(b)).isEqualTo(125);
    }

    /** As when the database of another is away, and its outcomes cannot be written. */
    @Test
    void aStoreThatHasNothingGetsALittleWhateverTheOthersHave() {
        Turnstile turnstile = turnstile(StoreSelection.roundRobin());
        turnstile.inHand("a", 1000);
        assertThat(turnstile.enter(a)).isZero();
        assertThat(turnstile.enter(b)).isEqualTo(15);
        turnstile.inHand("b", 15);
        turnstile.leave(b, 15, true);
        assertThat(turnstile.enter(b)).isZero();
        turnstile.inHand("b", -15);
        assertThat(called).containsExactly("b");
        turnstile.inHand("a", -1000);
        assertThat(turnstile.enter(b)).isEqualTo(15);
        turnstile.leave(b, 0, false);
        assertThat(turnstile.enter(a)).isEqualTo(BATCH);
    }

    /** A database that accepts connections and never answers. */
    @Test
    void aClaimThatHangsTakesNobodysTurn() {
        Turnstile turnstile = turnstile(StoreSelection.roundRobin());
        assertThat(turnstile.enter(a)).isPositive();
        assertThat(turnstile.enter(b)).isZero();
        eventually().until(() -> {
            synchronized (called) {
                return called.contains("b");
            }
        });
        assertThat(turnstile.enter(b)).isPositive();
        turnstile.leave(b, 1, false);
        turnstile.leave(a, 0, false);
    }

    @Test
    void whoIsForgottenStandsInNobodysWay() {
        Turnstile turnstile = turnstile(StoreSelection.roundRobin());
        assertThat(turnstile.enter(a)).isPositive();
        assertThat(turnstile.enter(b)).isZero();
        assertThat(turnstile.enter(c)).isZero();
        turnstile.forget(b);
        turnstile.forget(a);
        assertThat(called).containsExactly("c");
    }
}
