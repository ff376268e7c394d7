package dev.windlass.examples;

import dev.windlass.Fleet;
import dev.windlass.FleetBuilder;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.DatabaseDiscovery;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Router;
import dev.windlass.store.Shards;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import dev.windlass.store.StoreMigration;
import dev.windlass.store.StoreSelection;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import javax.sql.DataSource;

/** What docs/stores.md shows one by one, too small for programs of their own. */
final class StoreRecipes {

    private StoreRecipes() {}

    static Fleet list(DataSource north, DataSource south, BiConsumer<String, String> mailer) {
        // tag::list
        Fleet fleet = Fleet.over(List.of(Store.of("north", north), Store.of("south", south)))
                .each((store, windlass) -> windlass.outboxHandler(
                        "order.created", message -> mailer.accept(store.id(), message.payload())))
                .start();
        // end::list
        return fleet;
    }

    /** A tenant, as some directory knows it. */
    record Tenant(String name, String url) {}

    static DatabaseDiscovery discovery(Iterable<Tenant> directory, Function<String, DataSource> pools) {
        // tag::discovery
        DatabaseDiscovery tenants = () -> {
            List<Store> stores = new ArrayList<>();
            for (Tenant tenant : directory) {
                stores.add(Store.opening(tenant.name(), tenant.url(), () -> pools.apply(tenant.url())));
            }
            return stores;
        };
        // end::discovery
        return tenants;
    }

    static Fleet discover(DatabaseDiscovery tenants, BiConsumer<String, String> mailer) {
        // tag::discover
        Fleet fleet = Fleet.discovering(tenants)
                .each((store, windlass) -> windlass.outboxHandler(
                        "order.created", message -> mailer.accept(store.id(), message.payload())))
                .ensureSchema()
                .options(FleetOptions.defaults().withRefreshEvery(Duration.ofMinutes(1)))
                .start();
        // end::discover
        return fleet;
    }

    static void enqueue(Fleet fleet, Connection connection, String json) {
        // tag::at
        fleet.at("south").outbox().enqueue(connection, OutboxEntry.of("order.created", json));
        // end::at
    }

    static void route(Fleet fleet, String tenant, String json) {
        // tag::router
        Router<Outbox> outboxes = fleet.outboxes();
        outboxes.get(tenant).enqueue(OutboxEntry.of("order.created", json));
        // end::router
    }

    static void added(Fleet fleet) {
        // tag::refresh
        fleet.refresh();
        // end::refresh
    }

    static FleetBuilder shards(DataSource first, DataSource second) {
        // tag::shards
        FleetBuilder builder = Fleet.over(List.of(Store.of("shard-1", first), Store.of("shard-2", second)))
                .routing(Shards.over(List.of("shard-1", "shard-2")));
        // end::shards
        return builder;
    }

    static Store shared(SharedConnections connections, Tenant tenant, Function<String, DataSource> unpooled) {
        // tag::connections
        Store store = Store.opening(tenant.name(), tenant.url(), () -> connections.to(unpooled.apply(tenant.url())));
        // end::connections
        return store;
    }

    static FleetBuilder schemas(DataSource pool) {
        // tag::schemas
        FleetBuilder builder = Fleet.over(List.of(
                Store.of("north", pool).withSchema("windlass_north"),
                Store.of("south", pool).withSchema("windlass_south")));
        // end::schemas
        return builder;
    }

    static List<StoreMigration> migrate(FleetBuilder builder) {
        // tag::migrate
        List<StoreMigration> done = builder.migrate(store -> System.out.printf(
                "%d of %d: %s %s%n",
                store.number(), store.of(), store.id(), store.problem().orElse("is up to date")));
        // end::migrate
        return done;
    }

    static FleetOptions options() {
        // tag::options
        FleetOptions options = FleetOptions.defaults()
                .withConcurrency(128)
                .withKeptConnections(50)
                .withSelection(StoreSelection.drainFirst());
        // end::options
        return options;
    }
}
