package dev.windlass.internal.fleet;

import dev.windlass.internal.loop.Turnstile;
import dev.windlass.internal.loop.Workers;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.StoreSelection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets nodes claim as long as not too much is in hand and not too many claims are under way; a {@link StoreSelection} chooses among
 * those who have to wait.
 *
 * <p>A claim that takes long is not counted any more: a database that hangs takes the turn of nobody else. Whoever is invited and does
 * not come loses its turn after a while, too. Thread-safe; while it is locked it calls nobody but the selection: a visitor has locks of
 * its own, under which it comes here.
 */
public final class FairTurnstile implements Turnstile {
    private static final Logger log = LoggerFactory.getLogger(FairTurnstile.class);
    private static final Duration SLOW = Duration.ofMillis(250);

    /** A claim gets no less than this part of what may be in hand, or they would become ever smaller. */
    private static final int SMALLEST_PART = 8;

    /** So much of it a store gets that has nothing in hand, whatever the others have. */
    private static final int LITTLE_PART = 64;

    private final int mostAtOnce;
    private final int mostInHand;
    private final StoreSelection selection;
    private final Workers workers;
    private final Map<Visitor, Turn> turns = new LinkedHashMap<>();
    /** With how much each would take. */
    private final Map<Visitor, Integer> waiting = new LinkedHashMap<>();

    private final Map<String, Integer> inHandOf = new HashMap<>();
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
    public boolean isShared() {
        return true;
    }

    @Override
    public int enter(Visitor visitor) {
        List<Visitor> invited;
        int batchSize = visitor.batchSize();
        int most;
        synchronized (this) {
            Turn turn = turns.remove(visitor);
            if (turn == null) {
                waiting.putIfAbsent(visitor, batchSize);
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
    public void leave(Visitor visitor, int claimed, boolean again) {
        List<Visitor> invited;
        int batchSize = visitor.batchSize();
        synchronized (this) {
            turns.remove(visitor);
            if (again) {
                waiting.putIfAbsent(visitor, batchSize);
            }
            last = Optional.of(visitor.store());
            lastCount = claimed;
            invited = invite();
        }
        invited.forEach(Visitor::yourTurn);
    }

    @Override
    public void inHand(String store, int change) {
        List<Visitor> invited;
        synchronized (this) {
            inHand += change;
            inHandOf.merge(store, change, (before, more) -> before + more == 0 ? null : before + more);
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
        while (!waiting.isEmpty()
                && turns.values().stream().filter(turn -> turn.counts(now)).count() < mostAtOnce) {
            int left = left(now);
            boolean enough = left >= Math.max(1, mostInHand / SMALLEST_PART);
            List<Visitor> candidates = enough ? List.copyOf(waiting.keySet()) : withNothing();
            if (candidates.isEmpty()) {
                break;
            }
            Visitor next = next(candidates);
            int batchSize = Objects.requireNonNull(waiting.remove(next));
            int most = enough ? left : Math.max(1, mostInHand / LITTLE_PART);
            turns.put(next, new Turn(now, Math.min(most, batchSize), false));
            invited.add(next);
        }
        if (!waiting.isEmpty() && !turns.isEmpty() && !looksAgain) {
            looksAgain = true;
            var unused = workers.after(SLOW, this::lookAgain);
        }
        return invited;
    }

    /** What a slow claim may bring is not reserved any more, as it does not count. */
    private int left(long now) {
        return mostInHand
                - inHand
                - turns.values().stream()
                        .filter(turn -> turn.counts(now))
                        .mapToInt(Turn::most)
                        .sum();
    }

    /** Stores whose messages cannot be completed keep what they have in hand; others must get through beside them. */
    private List<Visitor> withNothing() {
        Set<String> claiming = turns.keySet().stream().map(Visitor::store).collect(Collectors.toSet());
        return waiting.keySet().stream()
                .filter(visitor -> !inHandOf.containsKey(visitor.store()) && !claiming.contains(visitor.store()))
                .toList();
    }

    private void lookAgain() {
        List<Visitor> invited;
        synchronized (this) {
            looksAgain = false;
            invited = invite();
        }
        invited.forEach(Visitor::yourTurn);
    }

    private Visitor next(List<Visitor> candidates) {
        List<String> stores = candidates.stream().map(Visitor::store).distinct().toList();
        String chosen = chosen(stores);
        return candidates.stream()
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
        } catch (Throwable e) {
            tellOfSelection("failed", e);
        }
        return stores.get(0);
    }

    private void tellOfSelection(String what, @Nullable Throwable e) {
        if (!toldOfSelection) {
            toldOfSelection = true;
            log.warn("the selection of stores {}; the one that has waited longest is taken", what, e);
        }
    }
}
