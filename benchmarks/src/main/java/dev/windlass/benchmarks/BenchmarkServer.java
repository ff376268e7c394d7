package dev.windlass.benchmarks;

import dev.windlass.benchmarks.system.Server;
import dev.windlass.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;

/** Where the database comes from: one that is there, or one of this run that is as safe as in production. */
final class BenchmarkServer implements AutoCloseable {
    private final Server server;
    private final @Nullable EmbeddedPostgres embedded;

    private BenchmarkServer(Server server, @Nullable EmbeddedPostgres embedded) {
        this.server = server;
        this.embedded = embedded;
    }

    static BenchmarkServer at(Server server) {
        return new BenchmarkServer(server, null);
    }

    static BenchmarkServer embedded() {
        return embedded(true);
    }

    /** @param fsync false for tests, which measure nothing */
    static BenchmarkServer embedded(boolean fsync) {
        EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults()
                .withFsync(fsync)
                .withSetting("max_connections", "1000")
                .withSetting("shared_buffers", "1GB")
                // Rounds start after a checkpoint, and none should fall into one.
                .withSetting("max_wal_size", "8GB")
                .withSetting("checkpoint_timeout", "30min")
                // Counts only in the scenario that asks for it.
                .withSetting("shared_preload_libraries", "pg_stat_statements")
                .withSetting("pg_stat_statements.track", "none"));
        return new BenchmarkServer(new Server(postgres.jdbcUrl(), postgres.user(), postgres.password()), postgres);
    }

    Server server() {
        return server;
    }

    @Override
    public void close() {
        if (embedded != null) {
            embedded.close();
        }
    }
}
