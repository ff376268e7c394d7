package dev.windlass.internal.fleet;

import dev.windlass.internal.loop.Turnstile;
import dev.windlass.internal.loop.Workers;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.StoreSelection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets nodes claim as long as not too much is in hand and not too many claims are under way; a {@link StoreSelection} chooses among
 * those who have to wait.
 *
 * <p>A claim that takes long is not counted any more: a database that hangs takes the turn of nobody else. Whoever is invited and does
 * not come loses its turn after a while, too. Thread-safe; calls out only to wake, and to ask the selection.
 */
public final class FairTurnstile implements Turnstile {
    private static final Logger log = LoggerFactory.getLogger(FairTurnstile.class);
    private static final Duration SLOW = Duration.ofMillis(250);

    /** A claim gets no less than this part of what may be in hand, or they would become ever smaller; and no more than that one. */
    private static final int SMALLEST_PART = 8;

    private static final int LARGEST_PART = 4;

    private final int mostAtOnce;
    private final int mostInHand;
    private final StoreSelection selection;
    private final Workers workers;
    private final Map<Visitor, Turn> turns = new LinkedHashMap<>();
    private final Set<Visitor> waiting = new LinkedHashSet<>();
    private int inHand;
    private Optional<String> last = Optional.empty();
    private int lastCount;
    private boolean looksAgain;
    private boolean toldOfSelection;

    /** Who is inside, or invited, since when, and how much it may claim. */
    private record Turn(long since, int most, boolean inside) {
        boolean counts(long now) {
            return now - since < SLOW.toNanos();
        }
    }

    public FairTurnstile(FleetOptions options, Workers workers) {
        this.mostAtOnce = options.claimsAtOnce();
        this.mostInHand = options.inHand();
        this.selection = options.selection();
        this.workers = workers;
    }

    @Override
    public int enter(Visitor visitor) {
        List<Visitor> invited;
        int most;
        synchronized (this) {
            Turn turn = turns.remove(visitor);
            if (turn == null) {
                waiting.add(visitor);
                invited = invite();
                turn = turns.remove(visitor);
                invited.remove(visitor);
            } else {
                invited = List.of();
            }
            if (turn != null) {
                turns.put(visitor, new Turn(System.nanoTime(), turn.most, true));
            }
            most = turn == null ? 0 : turn.most;
        }
        invited.forEach(Visitor::yourTurn);
        return most;
    }

    @Override
    public void leave(Visitor visitor, int claimed) {
        List<Visitor> invited;
        synchronized (this) {
            turns.remove(visitor);
            last = Optional.of(visitor.store());
            lastCount = claimed;
            invited = invite();
        }
        invited.forEach(Visitor::yourTurn);
    }

    @Override
    public void inHand(int change) {
        List<Visitor> invited;
        synchronized (this) {
            inHand += change;
            invited = change < 0 ? invite() : List.of();
        }
        invited.forEach(Visitor::yourTurn);
    }

    @Override
    public void forget(Visitor visitor) {
        List<Visitor> invited;
        synchronized (this) {
            turns.remove(visitor);
            waiting.remove(visitor);
            invited = invite();
        }
        invited.forEach(Visitor::yourTurn);
    }

    private List<Visitor> invite() {
        if (waiting.isEmpty()) {
            return List.of();
        }
        List<Visitor> invited = new ArrayList<>();
        long now = System.nanoTime();
        turns.values().removeIf(turn -> !turn.inside && !turn.counts(now));
        for (int most = mayClaim(now); most > 0 && !waiting.isEmpty(); most = mayClaim(now)) {
            Visitor next = next();
            waiting.remove(next);
            turns.put(next, new Turn(now, most, false));
            invited.add(next);
        }
        if (!waiting.isEmpty() && !turns.isEmpty() && !looksAgain) {
            looksAgain = true;
            var unused = workers.after(SLOW, this::lookAgain);
        }
        return invited;
    }

    private int mayClaim(long now) {
        int counted = 0;
        int left = mostInHand - inHand;
        for (Turn turn : turns.values()) {
            counted += turn.counts(now) ? 1 : 0;
            left -= turn.counts(now) ? turn.most : 0;
        }
        boolean enough = left >= Math.max(1, mostInHand / SMALLEST_PART);
        return counted < mostAtOnce && enough ? Math.min(left, Math.max(1, mostInHand / LARGEST_PART)) : 0;
    }

    private void lookAgain() {
        List<Visitor> invited;
        synchronized (this) {
            looksAgain = false;
            invited = invite();
        }
        invited.forEach(Visitor::yourTurn);
    }

    private Visitor next() {
        List<String> stores = waiting.stream().map(Visitor::store).distinct().toList();
        String chosen = chosen(stores);
        return waiting.stream()
                .filter(visitor -> visitor.store().equals(chosen))
                .findFirst()
                .orElseThrow();
    }

    /** The code of users may throw, or choose one that does not wait: then the first is taken. */
    private String chosen(List<String> stores) {
        try {
            String chosen = selection.next(stores, last, lastCount);
            if (stores.contains(chosen)) {
                return chosen;
            }
            tellOfSelection("chose a store that does not wait", null);
        } catch (RuntimeException e) {
            tellOfSelection("failed", e);
        }
        return stores.get(0);
    }

    private void tellOfSelection(String what, @Nullable RuntimeException e) {
        if (!toldOfSelection) {
            toldOfSelection = true;
            log.warn("the selection of stores {}; the one that has waited longest is taken", what, e);
        }
    }
}
