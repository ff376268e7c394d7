package dev.windlass.examples;

import dev.windlass.Fleet;
import dev.windlass.Windlass;
import dev.windlass.base.Feature;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A service whose tenants have a database each, fifty of them in one server, and a directory that says which there are.
 *
 * <p>An order, the message that speaks of it and the timer that asks for its payment are one transaction, in the tenant's own
 * database. Tenants come and go while it runs, and all of them share a few connections.
 */
public final class Tenants {
    private static final int TENANTS = 50;

    /** Four stores keep one, four are claimed from, eight handlers use one each, and some are for moments. */
    private static final int CONNECTIONS = 24;

    private static final FleetOptions OPTIONS =
            FleetOptions.defaults().withConcurrency(8).withKeptConnections(4).withClaimsAtOnce(4);

    private final EmbeddedPostgres server;
    private final SharedConnections connections;
    private final Map<String, DataSource> databases = new ConcurrentHashMap<>();
    private final Semaphore invoiced = new Semaphore(0);
    private final Semaphore askedForPayment = new Semaphore(0);
    private final Semaphore closedTheDay = new Semaphore(0);

    Tenants(EmbeddedPostgres server, SharedConnections connections) {
        this.server = server;
        this.connections = connections;
    }

    public static void main(String[] args) throws Exception {
        try (SharedConnections connections = SharedConnections.atMost(CONNECTIONS)) {
            Tenants tenants = new Tenants(EmbeddedPostgres.shared(), connections); // in production: your server
            tenants.createTemplate();
            for (int i = 1; i <= TENANTS; i++) {
                tenants.add("tenant-" + i);
            }
            System.out.println(TENANTS + " tenants have a database each");
            try (Fleet fleet = tenants.fleet()) {
                tenants.serve(fleet);
            }
        }
    }

    // tag::fleet
    private Fleet fleet() {
        return Fleet.discovering(this::directory)
                .options(OPTIONS)
                .each((store, windlass) -> windlass.only(Feature.OUTBOX, Feature.SCHEDULE)
                        .outboxHandler("order.placed", message -> invoice(store.id(), message.payload()))
                        .outboxHandler("payment.due", message -> askedForPayment.release())
                        .job(Job.cron("close-of-day", "0 18 * * *", ZoneOffset.UTC), message -> closedTheDay.release()))
                .start();
    }

    private List<Store> directory() throws SQLException {
        List<Store> stores = new ArrayList<>();
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select name from tenants")) {
            while (rows.next()) {
                stores.add(Store.of(rows.getString(1), database(rows.getString(1))));
            }
        }
        return stores;
    }

    /** The same object each time: a store with another data source would be another store. */
    private DataSource database(String tenant) {
        return databases.computeIfAbsent(tenant, name -> connections.to(unpooled(name)));
    }
    // end::fleet

    private void serve(Fleet fleet) throws Exception {
        System.out.println(fleet.stores().size() + " stores are open");
        for (int i = 1; i <= TENANTS; i++) {
            placeOrder(fleet.at("tenant-" + i), "order-1");
        }
        await(TENANTS, invoiced);
        await(TENANTS, askedForPayment);
        System.out.printf(
                "%d orders were invoiced and %1$d payments asked for, over %d connections%n",
                TENANTS, connections.open());

        fleet.jobs().get("tenant-7").trigger("close-of-day");
        await(1, closedTheDay);
        System.out.println("closed the day of tenant-7");

        add("tenant-51");
        fleet.refresh();
        placeOrder(fleet.at("tenant-51"), "order-1");
        await(1, invoiced);
        System.out.println("tenant-51 came, and its first order was invoiced");

        remove("tenant-1", fleet);
        System.out.println("tenant-1 left, and " + fleet.stores().size() + " stores are open");
    }

    // tag::order
    private static void placeOrder(Windlass tenant, String order) throws SQLException {
        tenant.inTransaction(connection -> {
            execute(connection, "insert into orders (id) values (?)", order);
            tenant.timers().schedule(connection, TimerEntry.of("payment.due", order, Duration.ofMillis(100)));
            return tenant.outbox().enqueue(connection, OutboxEntry.of("order.placed", order));
        });
    }
    // end::order

    /** However often the message comes, there is one invoice. */
    private void invoice(String tenant, String order) throws SQLException {
        try (Connection connection = database(tenant).getConnection()) {
            execute(connection, "insert into invoices (order_id) values (?) on conflict do nothing", order);
        }
        invoiced.release();
    }

    private static void await(int count, Semaphore done) throws InterruptedException {
        if (!done.tryAcquire(count, 30, TimeUnit.SECONDS)) {
            throw new IllegalStateException(
                    "expected " + count + " to be done within 30 s, got " + done.availablePermits());
        }
    }

    // tag::template
    private void createTemplate() throws SQLException {
        execute("create table tenants (name text primary key)");
        execute("create database tenant_template");
        Windlass.on(unpooled("tenant_template")).migrator().migrate();
        try (Connection connection = unpooled("tenant_template").getConnection()) {
            execute(connection, "create table orders (id text primary key)");
            execute(connection, "create table invoices (order_id text primary key)");
        }
    }

    /** Fifty copies took 2.4 s. Fifty empty databases took as long, and their migration, eight at once, 9.2 s more. */
    private void add(String tenant) throws SQLException {
        execute("create database \"" + tenant + "\" template tenant_template strategy file_copy");
        execute("insert into tenants (name) values (?)", tenant);
    }

    /** First out of the directory; the database when the fleet has let go of it. The pool may have idle connections to it. */
    private void remove(String tenant, Fleet fleet) throws SQLException, InterruptedException {
        execute("delete from tenants where name = ?", tenant);
        fleet.refresh();
        while (fleet.stores().stream().anyMatch(store -> store.id().equals(tenant))) {
            Thread.sleep(10); // its handlers finish
        }
        databases.remove(tenant);
        execute("drop database \"" + tenant + "\" with (force)");
    }
    // end::template

    private DataSource unpooled(String database) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(server.jdbcUrl(database));
        source.setUser(server.user());
        source.setPassword(server.password());
        return source;
    }

    private void execute(String sql, Object... values) throws SQLException {
        try (Connection connection = server.dataSource().getConnection()) {
            execute(connection, sql, values);
        }
    }

    private static void execute(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.executeUpdate();
        }
    }
}
