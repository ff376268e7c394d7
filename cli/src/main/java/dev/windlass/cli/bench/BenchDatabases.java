package dev.windlass.cli.bench;

import dev.windlass.base.WindlassException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** Databases of one server, copied from one that has the schema. */
final class BenchDatabases extends BenchStores {
    private static final String TEMPLATE = PREFIX + "template";
    private static final String SCHEMA = "windlass";

    /** For the log, and what is written later. */
    private static final long SPARE_BYTES = 2L << 30;

    private final Map<Integer, DataSource> sources = new ConcurrentHashMap<>();
    private long size;

    BenchDatabases(BenchServer server, Report report, boolean throwAway) {
        super(server, report, throwAway);
    }

    @Override
    String kind() {
        return "database";
    }

    @Override
    Set<String> present() throws SQLException {
        try (Connection connection = server.connect()) {
            return BenchServer.names(connection, "select datname from pg_database where datname ^@ ?", PREFIX);
        }
    }

    @Override
    void prepare(int more) throws SQLException {
        try (Connection connection = server.connect()) {
            if (size == 0) {
                checkRight(connection);
                add(connection, TEMPLATE);
                BenchFleet.migrate(server.fleet(TEMPLATE), SCHEMA);
                size = BenchServer.number(connection, "select pg_database_size(?)", TEMPLATE);
            }
            long needed = size * more + SPARE_BYTES;
            OptionalLong free = LocalServer.freeDisk(connection);
            if (free.isPresent() && free.getAsLong() < needed) {
                throw new WindlassException(
                        "expected %,d MB of free disk for %,d databases of %,d MB each, found %,d MB; take fewer stores, or --schemas"
                                .formatted(needed >> 20, more, size >> 20, free.getAsLong() >> 20));
            }
            report.say(
                    "making %s of %.1f MB each, %s",
                    many(more),
                    size / 1e6,
                    free.isPresent()
                            ? "%,d MB of disk are free".formatted(free.getAsLong() >> 20)
                            : "it cannot be told how much disk is free there");
        }
    }

    private static void checkRight(Connection connection) throws SQLException {
        if (BenchServer.number(
                        connection,
                        "select count(*) from pg_roles where rolname = current_user and (rolcreatedb or rolsuper)")
                == 0) {
            throw new WindlassException("expected a user who may create databases, got "
                    + BenchServer.text(connection, "select current_user")
                    + "; use another, let it have the right (alter role … createdb), or take --schemas");
        }
    }

    /** By way of the log: it took 0.35 s each, a copy of the files 0.94 s, with two checkpoints that others wait for. */
    @Override
    void make(Connection connection, String name) throws SQLException {
        String copied = name.equals(TEMPLATE) ? "template0" : TEMPLATE;
        BenchServer.execute(
                connection, "create database \"" + name + "\" template \"" + copied + "\" strategy wal_log");
    }

    @Override
    void drop(Connection connection, String name) throws SQLException {
        BenchServer.execute(connection, "drop database if exists \"" + name + "\" with (force)");
    }

    @Override
    DataSource source(int number) {
        return sources.computeIfAbsent(number, n -> server.fleet(name(n)));
    }

    @Override
    String schema(int number) {
        return SCHEMA;
    }

    @Override
    Connection connect(int number) throws SQLException {
        return server.connect(name(number));
    }

    @Override
    List<String> databases(int stores) {
        return numbers(stores).stream().map(BenchStores::name).toList();
    }
}
