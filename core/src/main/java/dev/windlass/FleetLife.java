package dev.windlass;

import dev.windlass.base.WindlassException;
import dev.windlass.health.HealthFinding;
import dev.windlass.internal.event.Listeners;
import dev.windlass.internal.fleet.FairTurnstile;
import dev.windlass.internal.fleet.Parallel;
import dev.windlass.internal.fleet.RecentAttention;
import dev.windlass.internal.fleet.StoreSet;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Places;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.support.Require;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import dev.windlass.store.UnknownStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A fleet from one start to the end after it. What has ended cannot be woken up; who starts again gets another one. */
final class FleetLife {
    private static final Logger log = LoggerFactory.getLogger(Fleet.class);
    /** For a store that is being opened. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration DISCOVERY_AGAIN = Duration.ofSeconds(30);

    private final Workers workers = new Workers();
    private final Listeners listeners;
    private final StoreSet<Windlass> stores;
    private final @Nullable DatabaseDiscovery discovery;
    private final List<Store> listed;
    private final FleetOptions options;
    private final UnaryOperator<String> routing;
    private final boolean closesOnShutdown;
    private final Loop refreshing;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook = new Thread(this::close, "windlass-shutdown");
    private final AtomicBoolean started = new AtomicBoolean();
    private final Object refresh = new Object();
    private volatile boolean known;
    private volatile boolean troubled;
    final FleetHealth health;

    FleetLife(FleetBuilder builder) {
        options = builder.options;
        discovery = builder.discovery;
        listed = builder.stores;
        routing = builder.routing;
        closesOnShutdown = builder.closeOnShutdown;
        Node.Shared shared = new Node.Shared(
                workers,
                new Places(options.concurrency(), options.concurrency() / 2),
                new FairTurnstile(options, workers),
                new RecentAttention(options.keptConnections(), workers));
        listeners = Listeners.to(builder.listeners);
        stores = new StoreSet<>(
                (store, source) -> builder.windlass(store, source)
                        .sharing(shared)
                        .telling(listeners)
                        .start(),
                Windlass::close,
                FleetBuilder::inWords,
                new Parallel(workers, options.parallelism()),
                workers,
                listeners);
        refreshing = new Loop("discovering stores", workers, this::refreshByItself);
        health = new FleetHealth(builder, workers, this::discoveryFinding, stores::states, stores::open);
    }

    Windlass at(String key) {
        requireStarted();
        if (listed.isEmpty()) {
            discoverFirst();
        }
        String id = routing.apply(key);
        if (id == null) {
            throw new UnknownStoreException(
                    "expected the key of a store, got \"" + key + "\", for which the routing has none");
        }
        if (stores.problem(id).isEmpty()) { // it is none of those that are listed
            discoverFirst();
        }
        return stores.find(id, PATIENCE).orElseThrow(() -> noStore(key, id));
    }

    private void requireStarted() {
        if (!started.get()) {
            throw new WindlassException("expected a fleet that has started, got one that was only built; call start()");
        }
    }

    private void discoverFirst() {
        if (known) {
            return;
        }
        synchronized (refresh) {
            if (!known) {
                refresh();
            }
        }
    }

    private WindlassException noStore(String key, String id) {
        String name = key.equals(id) ? "\"" + key + "\"" : "\"" + key + "\", which belongs to store \"" + id + "\"";
        if (closed.get()) {
            return new WindlassException("expected a fleet that is open, got one that was closed, for key " + name);
        }
        return stores.problem(id)
                .map(problem -> new WindlassException("the store for key " + name + " is not open yet: " + problem))
                .orElseGet(() ->
                        new UnknownStoreException("expected the key of a store, got " + name + "; " + stores.size()
                                + " stores are known" + (discovery == null ? "" : ", refresh() looks for new ones")));
    }

    Optional<Windlass> store(String id) {
        return stores.find(id, Duration.ZERO);
    }

    boolean isClosed() {
        return closed.get();
    }

    private HealthFinding discoveryFinding() {
        if (!known) {
            int size = stores.size();
            return size == 0
                    ? HealthFinding.unhealthy("it is not known yet which stores there are")
                    : HealthFinding.degraded(
                            "it is not known yet which stores there are beside the " + size + " that are listed");
        }
        return troubled
                ? HealthFinding.degraded(
                        "it failed last time; going on with the " + stores.size() + " stores that are known")
                : HealthFinding.healthy(stores.size() + " stores are known");
    }

    List<StoreState> stores() {
        Map<String, Windlass> working = stores.open();
        return stores.states().stream()
                .map(state -> withOutage(state, working.get(state.id())))
                .toList();
    }

    /** A store is opened before its database is there, and stays open while that is away. */
    private static StoreState withOutage(StoreState state, @Nullable Windlass windlass) {
        if (state.status() != StoreState.Status.OPEN || windlass == null || windlass.answers()) {
            return state;
        }
        String problem = windlass.isAway() ? "its database does not answer" : "its database has not answered yet";
        return new StoreState(state.id(), state.status(), Optional.of(problem));
    }

    void refresh() {
        requireStarted();
        synchronized (refresh) {
            if (closed.get()) {
                return;
            }
            if (discovery != null && !known) {
                stores.set(listed); // they do not wait for the others
            }
            stores.set(discovery == null ? listed : all(listed, discovery));
            known = true;
        }
    }

    /** Those that are listed, and those that are found now. */
    static Collection<Store> all(List<Store> listed, DatabaseDiscovery discovery) {
        List<Store> all = new ArrayList<>(listed);
        all.addAll(discovered(discovery));
        return all;
    }

    private static Collection<Store> discovered(DatabaseDiscovery discovery) {
        Collection<Store> found = found(discovery);
        try {
            return Require.elements("stores", found);
        } catch (IllegalArgumentException e) {
            throw new WindlassException("could not discover stores: " + e.getMessage());
        }
    }

    private static @Nullable Collection<Store> found(DatabaseDiscovery discovery) {
        try {
            Collection<Store> found = discovery.discover();
            return found == null ? null : new ArrayList<>(found);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WindlassException("interrupted while discovering stores", e);
        } catch (Exception e) {
            throw new WindlassException("could not discover stores: " + FleetBuilder.inWords(e));
        }
    }

    private Duration refreshByItself() {
        try {
            refresh();
            if (troubled) {
                log.info("stores can be discovered again");
            }
            troubled = false;
            return options.refreshEvery();
        } catch (RuntimeException e) {
            if (!troubled) {
                log.warn("{}; going on with the {} stores that are known", e.getMessage(), stores.size());
            }
            troubled = true;
            return options.refreshEvery().compareTo(DISCOVERY_AGAIN) < 0 ? options.refreshEvery() : DISCOVERY_AGAIN;
        }
    }

    /** All have been tried when it returns; those that failed are tried again. */
    void start() {
        if (!started.compareAndSet(false, true)) {
            return;
        }
        if (closesOnShutdown) {
            Runtime.getRuntime().addShutdownHook(hook);
        }
        Duration next = refreshByItself();
        if (discovery != null) {
            refreshing.start(next);
        }
        log.info("a fleet of {} stores has started", stores.size());
    }

    void close() {
        boolean interrupted = Thread.interrupted();
        if (closed.compareAndSet(false, true)) {
            refreshing.askToStop();
            interrupted |= stores.close(Windlass::stopClaiming, Windlass::endGrace);
            workers.close();
            listeners.close();
            removeHook();
            if (started.get()) {
                log.info("the fleet has stopped");
            }
            ended.countDown();
        } else {
            interrupted |= !awaitEnd();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitEnd() {
        try {
            ended.await();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void removeHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            log.debug("the process is ending");
        }
    }
}
