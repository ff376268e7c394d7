package dev.windlass.internal.fleet;

import dev.windlass.base.WindlassException;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.event.Events;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stores there are, each with what has been opened on it. New ones are opened, those that are gone are closed, those that have
 * changed are replaced, all others are left alone. One that cannot be opened is tried again, and disturbs no other.
 *
 * <p>Thread-safe; one change at a time.
 *
 * @param <T> what is opened on a store
 */
public final class StoreSet<T> {
    private static final Logger log = LoggerFactory.getLogger(StoreSet.class);
    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
    /** For stores that do not answer; they are opened when they do. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Each has a grace period of its own. */
    private static final Duration CLOSING = Duration.ofHours(1);

    private static final int CLOSINGS_AT_ONCE = 64;
    private static final Duration LONGEST_RETRY = Duration.ofMinutes(1);

    private final Opener<T> opener;
    private final Consumer<T> closer;
    private final Function<Exception, String> inWords;
    private final Parallel parallel;
    private final Parallel closings;
    private final Events events;
    private final Map<String, Entry<T>> entries = new ConcurrentHashMap<>();
    private final UnderWay<Opened<T>> underWay = new UnderWay<>();
    private final Loop retrying;
    private volatile boolean closed;

    /** Opens what works on a store. */
    @FunctionalInterface
    public interface Opener<T> {
        T open(Store store, DataSource dataSource) throws Exception;
    }

    private record Opened<T>(OpenedSource source, T value) {
        Store store() {
            return source.store();
        }
    }

    /** Guarded by itself. */
    private static final class Entry<T> {
        Store wanted;

        @Nullable
        Opened<T> opened;

        @Nullable
        String problem;

        int failures;
        long tryAt = System.nanoTime();
        boolean opening;

        Entry(Store wanted) {
            this.wanted = wanted;
        }

        synchronized boolean isToOpen(long now) {
            return !opening
                    && tryAt - now <= 0
                    && (opened == null || !opened.store().equals(wanted));
        }
    }

    /**
     * @param inWords what may be said about an error
     */
    public StoreSet(
            Opener<T> opener,
            Consumer<T> closer,
            Function<Exception, String> inWords,
            Parallel parallel,
            Workers workers,
            Events events) {
        this.events = events;
        this.closings = new Parallel(workers, CLOSINGS_AT_ONCE);
        this.closer = closer;
        this.opener = opener;
        this.inWords = inWords;
        this.parallel = parallel;
        this.retrying = new Loop("opening stores", workers, this::openDue);
    }

    /**
     * Makes these the stores there are, and waits until each new one has been tried.
     *
     * @throws WindlassException if two have the same identifier; then nothing has changed
     */
    public void set(Collection<Store> stores) {
        Map<String, Store> wanted = byId(stores);
        synchronized (this) {
            if (closed) {
                return;
            }
            Set<String> gone = new HashSet<>(entries.keySet());
            gone.removeAll(wanted.keySet());
            gone.forEach(id -> remove(Objects.requireNonNull(entries.remove(id))));
            wanted.values().forEach(this::want);
        }
        openDue();
        retrying.start();
        retrying.wake();
    }

    private static Map<String, Store> byId(Collection<Store> stores) {
        Map<String, Store> wanted = new LinkedHashMap<>();
        for (Store store : stores) {
            if (wanted.put(store.id(), store) != null) {
                throw new WindlassException(
                        "expected stores with different identifiers, got two with \"" + store.id() + "\"");
            }
        }
        return wanted;
    }

    private void want(Store store) {
        Entry<T> entry = entries.computeIfAbsent(store.id(), id -> new Entry<>(store));
        synchronized (entry) {
            if (!entry.wanted.equals(store)) {
                entry.wanted = store;
                entry.failures = 0;
                entry.tryAt = System.nanoTime();
            }
        }
    }

    private void remove(Entry<T> entry) {
        Opened<T> opened;
        synchronized (entry) {
            opened = entry.opened;
            entry.opened = null;
        }
        if (opened != null) {
            log.info(
                    "[{}] is not a store any more; it is closed when its handlers have finished",
                    opened.store().id());
            closeLater(opened);
        }
    }

    private void closeLater(Opened<T> opened) {
        underWay.closes(opened);
        parallel.later(() -> close(opened));
    }

    private void close(Opened<T> opened) {
        try {
            closer.accept(opened.value);
        } catch (RuntimeException e) {
            log.warn("[{}] could not be closed in order ({})", opened.store().id(), inWords.apply(e));
        } finally {
            Thread.interrupted(); // meant for what has been closed
            opened.source.close();
            String id = opened.store().id();
            events.tell(new WindlassEvent.StoreRemoved(id, entries.containsKey(id)));
            underWay.closed(opened);
        }
    }

    /** Returns when to look again. */
    private Duration openDue() {
        long now = System.nanoTime();
        parallel.all(
                entries.values().stream()
                        .filter(entry -> entry.isToOpen(now))
                        .map(entry -> (Runnable) () -> open(entry))
                        .toList(),
                PATIENCE);
        return entries.values().stream()
                .map(StoreSet::untilRetry)
                .flatMap(Optional::stream)
                .min(Duration::compareTo)
                .orElse(Loop.PARKED);
    }

    private static Optional<Duration> untilRetry(Entry<?> entry) {
        synchronized (entry) {
            boolean done = entry.opened != null && entry.opened.store().equals(entry.wanted);
            return done ? Optional.empty() : Optional.of(atLeast(Duration.ofNanos(entry.tryAt - System.nanoTime())));
        }
    }

    private static Duration atLeast(Duration pause) {
        return pause.compareTo(FIRST_RETRY) < 0 ? FIRST_RETRY : pause;
    }

    /** Counted before it looks whether all has been closed, so that whoever closes knows of it. */
    private void open(Entry<T> entry) {
        underWay.opens();
        try {
            openIfWanted(entry);
        } finally {
            underWay.opened();
        }
    }

    private void openIfWanted(Entry<T> entry) {
        Store store;
        synchronized (entry) {
            boolean isOpen = entry.opened != null && entry.opened.store().equals(entry.wanted);
            if (closed || entry.opening || isOpen) {
                return;
            }
            entry.opening = true;
            store = entry.wanted;
        }
        Opened<T> opened = null;
        String problem = null;
        try {
            opened = open(store);
        } catch (Exception | LinkageError e) {
            problem = e instanceof Exception known
                    ? inWords.apply(known)
                    : e.getClass().getName();
        } finally {
            settle(entry, store, opened, problem == null ? "it could not be opened" : problem);
        }
    }

    private Opened<T> open(Store store) throws Exception {
        OpenedSource source = OpenedSource.of(store);
        try {
            if (closed) {
                throw new WindlassException("the fleet has been closed");
            }
            return new Opened<>(source, opener.open(store, source.dataSource()));
        } catch (Throwable e) {
            source.close();
            throw e;
        }
    }

    /** What has been opened takes the place of what was there; unless it is not wanted any more. */
    private void settle(Entry<T> entry, Store store, @Nullable Opened<T> opened, String problem) {
        Opened<T> toClose = opened;
        boolean first;
        boolean taken = false;
        synchronized (entry) {
            entry.opening = false;
            boolean wanted = !closed && entries.get(store.id()) == entry && entry.wanted.equals(store);
            first = opened == null && entry.failures == 0 && wanted;
            if (opened == null) {
                entry.problem = problem;
                entry.tryAt = System.nanoTime() + retryAfter(entry.failures++).toNanos();
            } else if (wanted) {
                taken = true;
                toClose = entry.opened;
                entry.opened = opened;
                entry.problem = null;
                entry.failures = 0;
            }
            entry.notifyAll();
        }
        if (first) {
            log.warn("[{}] could not be opened, trying again: {}", store.id(), problem);
            events.tell(new WindlassEvent.StoreFailed(store.id(), problem));
        }
        if (toClose != null) {
            closeLater(toClose);
        }
        if (taken) {
            events.tell(new WindlassEvent.StoreAdded(store.id()));
        }
    }

    private static Duration retryAfter(int failures) {
        Duration pause = FIRST_RETRY.multipliedBy(1L << Math.min(failures, 10));
        return pause.compareTo(LONGEST_RETRY) < 0 ? pause : LONGEST_RETRY;
    }

    /** What has been opened on this store, if it has. One that is opened for the first time is waited for, so long at most. */
    public Optional<T> find(String id, Duration patience) {
        Entry<T> entry = entries.get(id);
        if (entry == null) {
            return Optional.empty();
        }
        long until = System.nanoTime() + patience.toNanos();
        synchronized (entry) {
            long left = patience.toMillis();
            while (entry.opened == null && entry.problem == null && left > 0) {
                try {
                    entry.wait(left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    break;
                }
                left = Duration.ofNanos(until - System.nanoTime()).toMillis();
            }
            return Optional.ofNullable(entry.opened).map(Opened::value);
        }
    }

    /** Why a store that is known is not open. */
    public Optional<String> problem(String id) {
        Entry<T> entry = entries.get(id);
        if (entry == null) {
            return Optional.empty();
        }
        synchronized (entry) {
            return Optional.of(entry.problem == null ? "it is being opened" : entry.problem);
        }
    }

    public int size() {
        return entries.size();
    }

    /** What works on each store that is open, by identifier. */
    public Map<String, T> open() {
        Map<String, T> open = new HashMap<>();
        entries.forEach((id, entry) -> {
            synchronized (entry) {
                if (entry.opened != null) {
                    open.put(id, entry.opened.value());
                }
            }
        });
        return open;
    }

    /** How each of them is doing, by identifier. */
    public List<StoreState> states() {
        List<StoreState> states = new ArrayList<>();
        entries.forEach((id, entry) -> states.add(state(id, entry)));
        underWay.closing().stream()
                .map(opened -> opened.store().id())
                .distinct()
                .filter(id -> !entries.containsKey(id))
                .forEach(id -> states.add(new StoreState(id, StoreState.Status.CLOSING, Optional.empty())));
        states.sort((one, other) -> one.id().compareTo(other.id()));
        return states;
    }

    private static StoreState state(String id, Entry<?> entry) {
        synchronized (entry) {
            StoreState.Status status = entry.opened != null
                    ? StoreState.Status.OPEN
                    : entry.problem == null ? StoreState.Status.OPENING : StoreState.Status.FAILED;
            return new StoreState(id, status, Optional.ofNullable(entry.problem));
        }
    }

    /**
     * Closes all of them, and waits for that, and for those that are being closed or opened already.
     *
     * @param first told to each before the first is closed
     * @param hurry told to each when somebody interrupts this thread
     * @return whether somebody did
     */
    public boolean close(Consumer<T> first, Consumer<T> hurry) {
        List<Opened<T>> all = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Entry<T> entry : entries.values()) {
                synchronized (entry) {
                    if (entry.opened != null) {
                        all.add(entry.opened);
                        entry.opened = null;
                    }
                }
            }
            all.forEach(underWay::closes);
            entries.clear();
        }
        retrying.askToStop();
        all.forEach(opened -> tell(first, opened));
        List<Runnable> closes =
                all.stream().map(opened -> (Runnable) () -> close(opened)).toList();
        parallel.later(() -> closings.all(closes, CLOSING));
        boolean interrupted = !underWay.awaitOpens(PATIENCE);
        long until = System.nanoTime() + CLOSING.toNanos();
        do {
            if (interrupted) {
                underWay.closing().forEach(opened -> tell(hurry, opened));
            }
            interrupted |= !underWay.awaitClosings(Duration.ofNanos(until - System.nanoTime()));
        } while (!underWay.closing().isEmpty() && until - System.nanoTime() > 0);
        return interrupted;
    }

    private void tell(Consumer<T> what, Opened<T> opened) {
        try {
            what.accept(opened.value);
        } catch (RuntimeException e) {
            log.warn("[{}] could not be told to stop ({})", opened.store().id(), inWords.apply(e));
        }
    }
}
