package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.Fleet;
import dev.windlass.FleetBuilder;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.examples.StoreRecipes.Tenant;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

final class StoreRecipesTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final List<String> DATABASES = List.of("north", "south", "west");

    private final Set<String> mailed = ConcurrentHashMap.newKeySet();

    @BeforeAll
    static void create() throws SQLException {
        for (String database : DATABASES) {
            execute("create database " + database);
        }
        StoreRecipes.migrate(
                Fleet.over(List.of(Store.of("north", source("north")), Store.of("south", source("south")))));
    }

    @AfterAll
    static void drop() throws SQLException {
        for (String database : DATABASES) {
            execute("drop database " + database + " with (force)");
        }
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = SERVER.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static DataSource source(String database) {
        PGSimpleDataSource source = (PGSimpleDataSource) SERVER.dataSource();
        PGSimpleDataSource of = new PGSimpleDataSource();
        of.setUrl(SERVER.jdbcUrl());
        of.setDatabaseName(database);
        of.setUser(source.getUser());
        of.setPassword(source.getPassword());
        return of;
    }

    private void mail(String store, String payload) {
        mailed.add(store + ": " + payload);
    }

    @Test
    void eachDatabaseHasItsOwnOutbox() throws SQLException {
        try (Fleet fleet = StoreRecipes.list(source("north"), source("south"), this::mail);
                Connection connection = source("south").getConnection()) {
            StoreRecipes.route(fleet, "north", "1");
            connection.setAutoCommit(false);
            StoreRecipes.enqueue(fleet, connection, "2");
            connection.commit();
            await().until(() -> mailed.containsAll(List.of("north: 1", "south: 2")));
        }
    }

    @Test
    void aTenantIsAddedWhileItRuns() {
        List<Tenant> directory = new CopyOnWriteArrayList<>(List.of(new Tenant("north", "north")));
        try (Fleet fleet =
                StoreRecipes.discover(StoreRecipes.discovery(directory, StoreRecipesTest::source), this::mail)) {
            directory.add(new Tenant("west", "west"));
            StoreRecipes.added(fleet);
            StoreRecipes.route(fleet, "west", "first");
            await().until(() -> mailed.contains("west: first"));
        }
    }

    private static Store shared(SharedConnections connections, String name) {
        return StoreRecipes.shared(connections, new StoreRecipes.Tenant(name, name), StoreRecipesTest::source);
    }

    @Test
    void databasesShareAPool() {
        try (SharedConnections connections = SharedConnections.atMost(4);
                Fleet fleet = Fleet.over(List.of(shared(connections, "north"), shared(connections, "south")))
                        .start()) {
            StoreRecipes.route(fleet, "north", "x");
            StoreRecipes.route(fleet, "south", "x");
            assertThat(connections.open()).isLessThanOrEqualTo(4);
        }
    }

    @Test
    void keysAreSpreadOverShards() {
        try (Fleet fleet = StoreRecipes.shards(source("north"), source("south"))
                .options(StoreRecipes.options())
                .start()) {
            for (int i = 0; i < 10; i++) {
                assertThat(fleet.at("customer " + i)).isSameAs(fleet.at("customer " + i));
            }
        }
    }

    @Test
    void schemasOfOneDatabaseAreStores() {
        FleetBuilder builder = StoreRecipes.schemas(source("north"));
        assertThat(StoreRecipes.migrate(builder))
                .allMatch(each -> each.problem().isEmpty());
        try (Fleet fleet = builder.start()) {
            StoreRecipes.route(fleet, "south", "x");
            assertThat(fleet.stores()).hasSize(2);
        }
    }
}
