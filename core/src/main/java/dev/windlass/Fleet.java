package dev.windlass;

import dev.windlass.base.WindlassException;
import dev.windlass.health.Health;
import dev.windlass.inbox.Inbox;
import dev.windlass.internal.support.Require;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.Router;
import dev.windlass.store.Store;
import dev.windlass.store.StoreState;
import dev.windlass.store.UnknownStoreException;
import dev.windlass.work.WorkQueue;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

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
    private final FleetBuilder builder;
    private final Object lifeCycle = new Object();
    private volatile FleetLife life;

    Fleet(FleetBuilder builder) {
        this.builder = builder;
        life = new FleetLife(builder);
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
     * @throws WindlassException if it could not be opened yet, or the fleet has not been started
     */
    public Windlass at(String key) {
        Require.present("key", key);
        return life.at(key);
    }

    /** The same for a key that is a UUID, in its usual form of small hexadecimal digits. */
    public Windlass at(UUID key) {
        return at(Require.present("key", key).toString());
    }

    /** The Windlass of a store by its identifier, whatever keys belong to it; nothing, if it is not open. */
    public Optional<Windlass> store(String id) {
        return life.store(Require.present("identifier of a store", id));
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
     * nor lets it be restarted. Asks no database; what waits in a store is what was counted there in the last
     * minute, and nobody counts where there is no {@link FleetBuilder#listener}.
     */
    public Health health() {
        return life.health;
    }

    /** How each store is doing, by identifier. */
    public List<StoreState> stores() {
        return life.stores();
    }

    /**
     * Asks which stores there are now, and returns when each new one has been tried; one that does not answer is not waited for.
     *
     * @throws WindlassException if that cannot be told; then all stays as it is
     */
    public void refresh() {
        life.refresh();
    }

    /**
     * Opens the stores, and begins to work; nothing, if it has begun. Returns when each has been tried; those that cannot be opened are tried
     * again, and {@link #stores} tells of them. A fleet that was closed begins anew.
     */
    public Fleet start() {
        synchronized (lifeCycle) {
            if (life.isClosed()) {
                life = new FleetLife(builder);
            }
            life.start();
        }
        return this;
    }

    /**
     * Lets all stores finish together: none claims any more, and each has its grace period; so have those that were being closed
     * already. An interrupt that arrives meanwhile ends the grace periods. Closing twice does nothing, but waits until the first has
     * ended.
     */
    @Override
    public void close() {
        life.close();
    }
}
