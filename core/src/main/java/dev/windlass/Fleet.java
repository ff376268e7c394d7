package dev.windlass;

import dev.windlass.base.WindlassException;
import dev.windlass.health.Health;
import dev.windlass.health.HealthFinding;
import dev.windlass.inbox.Inbox;
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
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Router;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import dev.windlass.store.UnknownStoreException;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link Windlass} for each of many stores, with threads, places for handlers and a few kept connections that they share.
 *
 * <pre>{@code
 * var fleet = Fleet.discovering(tenants::all)
 *         .each((store, windlass) -> windlass
 *                 .outboxHandler("order.created", message -> mailer.send(store.id(), message.payload())))
 *         .start();
 * fleet.at("tenant-42").outbox().enqueue(connection, OutboxEntry.of("order.created", json));
 * }</pre>
 *
 * <p>Each store is an island: its messages are in its own database, its errors are its own, and no transaction spans two of them. What
 * is slow or broken in one does not hold up the others.
 *
 * <p>Thread-safe. Close it when the program ends; all stores are closed together.
 */
public final class Fleet implements AutoCloseable {
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
    private final Loop refreshing;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    final Thread hook = new Thread(this::close, "windlass-shutdown");
    private final Object refresh = new Object();
    private volatile boolean known;
    private volatile boolean troubled;
    private final FleetHealth health;

    Fleet(FleetBuilder builder) {
        options = builder.options;
        discovery = builder.discovery;
        listed = builder.stores;
        routing = builder.routing;
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

    /** Begins to describe a fleet of these stores. */
    public static FleetBuilder over(Collection<Store> stores) {
        List<Store> all = List.copyOf(Require.elements("stores", stores));
        if (all.isEmpty()) {
            throw new IllegalArgumentException(
                    "expected one or more stores, got none; where there may be none yet, use Fleet.discovering");
        }
        if (all.stream().map(Store::id).distinct().count() < all.size()) {
            throw new IllegalArgumentException("expected stores with different identifiers, got two with the same: "
                    + all.stream().map(Store::id).sorted().toList());
        }
        return new FleetBuilder(all, null);
    }

    /** Begins to describe a fleet of those stores that this finds, now and later. */
    public static FleetBuilder discovering(DatabaseDiscovery discovery) {
        return new FleetBuilder(List.of(), Require.present("discovery", discovery));
    }

    /**
     * The Windlass of the store that belongs to a key; the key is the identifier of the store, unless a routing was given. If nobody
     * has asked which stores there are, that is done first; one that is just being opened is waited for, a few seconds. It belongs to
     * the fleet, which closes it.
     *
     * @throws UnknownStoreException if there is no such store
     * @throws WindlassException if it could not be opened yet
     */
    public Windlass at(String key) {
        Require.present("key", key);
        if (!known) {
            discoverFirst();
        }
        String id = routing.apply(key);
        if (id == null) {
            throw new UnknownStoreException(
                    "expected the key of a store, got \"" + key + "\", for which the routing has none");
        }
        return stores.find(id, PATIENCE).orElseThrow(() -> noStore(key, id));
    }

    /** The same for a key that is a UUID, in its usual form of small hexadecimal digits. */
    public Windlass at(UUID key) {
        return at(Require.present("key", key).toString());
    }

    private void discoverFirst() {
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

    public Router<Outbox> outboxes() {
        return key -> at(key).outbox();
    }

    public Router<Inbox> inboxes() {
        return key -> at(key).inbox();
    }

    public Router<WorkQueue> workQueues() {
        return key -> at(key).workQueue();
    }

    public Router<Timers> timers() {
        return key -> at(key).timers();
    }

    public Router<Jobs> jobs() {
        return key -> at(key).jobs();
    }

    public Router<Leases> leases() {
        return key -> at(key).leases();
    }

    public Router<Joins> joins() {
        return key -> at(key).joins();
    }

    /**
     * Whether the process and its stores are well. One sick store among others is degraded, and named: it neither makes the process unready
     * nor lets it be restarted. Asks no database; what waits in a store is told by {@link Windlass#health} of it, and by metrics.
     */
    public Health health() {
        return health;
    }

    private HealthFinding discoveryFinding() {
        if (!known) {
            return HealthFinding.unhealthy("it is not known yet which stores there are");
        }
        return troubled
                ? HealthFinding.degraded(
                        "it failed last time; going on with the " + stores.size() + " stores that are known")
                : HealthFinding.healthy(stores.size() + " stores are known");
    }

    /** How each store is doing, by identifier. */
    public List<StoreState> stores() {
        return stores.states();
    }

    /**
     * Asks which stores there are now, and returns when each new one has been tried; one that does not answer is not waited for.
     *
     * @throws WindlassException if that cannot be told; then all stays as it is
     */
    public void refresh() {
        synchronized (refresh) {
            if (closed.get()) {
                return;
            }
            stores.set(discovery == null ? listed : discovered(discovery));
            known = true;
        }
    }

    static Collection<Store> discovered(DatabaseDiscovery discovery) {
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
    Fleet start() {
        Duration next = refreshByItself();
        if (discovery != null) {
            refreshing.start(next);
        }
        log.info("a fleet of {} stores has started", stores.size());
        return this;
    }

    /**
     * Lets all stores finish together: none claims any more, and each has its grace period; so have those that were being closed
     * already. An interrupt that arrives meanwhile ends the grace periods. Closing twice does nothing, but waits until the first has
     * ended.
     */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted();
        if (closed.compareAndSet(false, true)) {
            refreshing.askToStop();
            interrupted |= stores.close(Windlass::stopClaiming, Windlass::endGrace);
            workers.close();
            listeners.close();
            removeHook();
            log.info("the fleet has stopped");
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
