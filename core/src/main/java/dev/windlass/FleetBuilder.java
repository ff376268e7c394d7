package dev.windlass;

import dev.windlass.base.WindlassException;
import dev.windlass.event.WindlassListener;
import dev.windlass.health.HealthCheck;
import dev.windlass.health.HealthOptions;
import dev.windlass.internal.fleet.OpenedSource;
import dev.windlass.internal.fleet.Parallel;
import dev.windlass.internal.loop.Workers;
import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.Require;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import dev.windlass.store.StoreMigration;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Describes a fleet. */
public final class FleetBuilder {
    private static final Logger log = LoggerFactory.getLogger(Fleet.class);
    private static final Duration MIGRATING = Duration.ofDays(1);

    final List<Store> stores;

    @Nullable
    DatabaseDiscovery discovery;

    private BiConsumer<Store, WindlassBuilder> description = (store, windlass) -> {};
    FleetOptions options = FleetOptions.defaults();
    UnaryOperator<String> routing = key -> key;
    final List<WindlassListener> listeners = new ArrayList<>();
    final Map<String, HealthCheck> healthChecks = new LinkedHashMap<>();
    HealthOptions health = HealthOptions.defaults();
    private boolean ensureSchema;
    boolean closeOnShutdown;

    FleetBuilder(List<Store> stores, @Nullable DatabaseDiscovery discovery) {
        this.stores = stores;
        this.discovery = discovery;
    }

    /**
     * Finds further stores, now and later. Those that are listed stay, and do not wait for it: they are opened before it is asked for the first
     * time.
     */
    public FleetBuilder discovering(DatabaseDiscovery discovery) {
        if (this.discovery != null) {
            throw new IllegalStateException(
                    "expected one discovery, got a second one; let one find the stores of both");
        }
        this.discovery = Require.present("discovery", discovery);
        return this;
    }

    /** Describes the Windlass of each store: its handlers, jobs and options. Called again each time that one is opened. */
    public FleetBuilder each(BiConsumer<Store, WindlassBuilder> description) {
        this.description = this.description.andThen(Require.present("description", description));
        return this;
    }

    /** The same where it does not matter which store it is. */
    public FleetBuilder each(Consumer<WindlassBuilder> description) {
        Require.present("description", description);
        return each((store, windlass) -> description.accept(windlass));
    }

    public FleetBuilder options(FleetOptions options) {
        this.options = Require.present("set of options", options);
        return this;
    }

    /** Changes some of the options, and leaves the others as they are. */
    public FleetBuilder options(UnaryOperator<FleetOptions> change) {
        return options(WindlassBuilder.changed(options, change));
    }

    /** Which store belongs to a key: {@link dev.windlass.store.Shards}, say. Without this, the key is its identifier. */
    public FleetBuilder routing(UnaryOperator<String> routing) {
        this.routing = Require.present("routing", routing);
        return this;
    }

    /** Tells what happens in all stores, and which stores come and go; several can listen. */
    public FleetBuilder listener(WindlassListener listener) {
        listeners.add(Require.present("listener", listener));
        return this;
    }

    /** How long {@link Fleet#health} may take, and how long an answer is given again; the thresholds are those of each store. */
    public FleetBuilder health(HealthOptions options) {
        this.health = Require.present("set of health options", options);
        return this;
    }

    public FleetBuilder health(UnaryOperator<HealthOptions> change) {
        return health(WindlassBuilder.changed(health, change));
    }

    /** A check of the program's own, which {@link Fleet#health} does beside the others. */
    public FleetBuilder healthCheck(String name, HealthCheck check) {
        Require.text("name of the check", name, 100);
        if (FleetHealth.NAMES.contains(name)
                || healthChecks.putIfAbsent(name, Require.present("check", check)) != null) {
            throw new IllegalArgumentException("expected checks with different names, got two with \"" + name + "\"");
        }
        return this;
    }

    /** Closes it when the process is told to end (SIGTERM, Ctrl-C, {@code System.exit}), as {@link WindlassBuilder} can. */
    public FleetBuilder closeOnShutdown() {
        closeOnShutdown = true;
        return this;
    }

    /** Creates or upgrades the schema of each store when it is opened. */
    public FleetBuilder ensureSchema() {
        ensureSchema = true;
        return this;
    }

    WindlassBuilder windlass(Store store, DataSource source) {
        WindlassBuilder windlass = Windlass.on(source);
        description.accept(store, windlass);
        windlass.name(store.id());
        store.schema().ifPresent(windlass::schema);
        return ensureSchema ? windlass.ensureSchema() : windlass;
    }

    /** The text of other exceptions may hold a URL with a password. */
    static String inWords(Exception e) {
        if (e instanceof WindlassException) {
            return String.valueOf(e.getMessage());
        }
        return e instanceof SQLException sql
                ? e.getClass().getName() + " (SQLSTATE " + sql.getSQLState() + ")"
                : e.getClass().getName();
    }

    /**
     * Brings the schemas of all stores up to date, several at once, without starting anything. One that fails keeps no other
     * from it.
     *
     * @param progress told of each as it ends
     * @return what became of each
     */
    public List<StoreMigration> migrate(Consumer<StoreMigration> progress) {
        Require.present("progress", progress);
        Collection<Store> all = discovery == null ? stores : FleetLife.all(stores, discovery);
        List<StoreMigration> done = Collections.synchronizedList(new ArrayList<>());
        try (Workers workers = new Workers()) {
            new Parallel(workers, options.parallelism())
                    .all(
                            all.stream()
                                    .map(store -> (Runnable) () -> migrate(store, all.size(), done, progress))
                                    .toList(),
                            MIGRATING);
        }
        return List.copyOf(done);
    }

    private void migrate(Store store, int of, List<StoreMigration> done, Consumer<StoreMigration> progress) {
        long start = System.nanoTime();
        Optional<String> problem = problem(store);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        StoreMigration ended;
        synchronized (done) {
            ended = new StoreMigration(store.id(), done.size() + 1, of, took, problem);
            done.add(ended);
        }
        if (problem.isPresent()) {
            log.warn("[{}] its schema could not be brought up to date: {}", store.id(), problem.get());
        } else {
            log.debug("[{}] its schema is up to date after {}", store.id(), InWords.of(took));
        }
        progress.accept(ended);
    }

    private Optional<String> problem(Store store) {
        try {
            OpenedSource source = OpenedSource.of(store);
            try {
                windlass(store, source.dataSource()).migrator().migrate();
                return Optional.empty();
            } finally {
                source.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        } catch (Exception e) {
            return Optional.of(inWords(e));
        } catch (Error e) { // of users' code, say: that one is not up to date
            return Optional.of(e.getClass().getName());
        }
    }

    /** One that has not begun: {@link Fleet#start} does. For containers that make what others need before anything runs. */
    public Fleet build() {
        return new Fleet(this);
    }

    /**
     * Opens the stores, and begins to work. Returns when each has been tried; those that cannot be opened are tried again, and
     * {@link Fleet#stores} tells of them.
     */
    public Fleet start() {
        return build().start();
    }
}
