package dev.windlass.cli.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;

/** Schemas of one database. */
final class BenchSchemas extends BenchStores {
    private final DataSource source;

    BenchSchemas(BenchServer server, Report report, boolean throwAway) {
        super(server, report, throwAway);
        this.source = server.fleet();
    }

    @Override
    String kind() {
        return "schema";
    }

    @Override
    Set<String> present() throws SQLException {
        try (Connection connection = server.connect()) {
            return BenchServer.names(connection, "select nspname from pg_namespace where nspname ^@ ?", PREFIX);
        }
    }

    @Override
    void prepare(int more) {
        report.say("making %s of one database", many(more));
    }

    @Override
    void make(Connection connection, String name) {
        BenchFleet.migrate(source, name);
    }

    @Override
    void drop(Connection connection, String name) throws SQLException {
        BenchServer.execute(connection, "drop schema if exists \"" + name + "\" cascade");
    }

    @Override
    DataSource source(int number) {
        return source;
    }

    @Override
    String schema(int number) {
        return name(number);
    }

    @Override
    Connection connect(int number) throws SQLException {
        return server.connect();
    }

    @Override
    List<String> databases(int stores) throws SQLException {
        try (Connection connection = server.connect()) {
            return List.of(BenchServer.text(connection, "select current_database()"));
        }
    }
}
