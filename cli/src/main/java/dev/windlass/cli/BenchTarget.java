package dev.windlass.cli;

import dev.windlass.base.WindlassException;
import dev.windlass.embedded.EmbeddedPostgres;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

/** The database to measure: the one that is given, or an embedded one with fsync on. */
final class BenchTarget {

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    void measure(CommandSpec spec, Bench bench) throws Exception {
        measure(spec, bench, bench);
    }

    /**
     * @param onEmbedded what to do on a server that is thrown away, instead
     */
    void measure(CommandSpec spec, Bench bench, Bench onEmbedded) throws Exception {
        Optional<Target> target =
                database.target(spec, WindlassCommand.above(spec).environment());
        if (target.isPresent()) {
            measure(target.get(), bench);
            return;
        }
        EmbeddedPostgres.Options options = EmbeddedPostgres.Options.defaults()
                .withFsync(true)
                .withSetting("shared_buffers", "512MB")
                .withSetting("max_wal_size", "4GB");
        try (EmbeddedPostgres server = EmbeddedPostgres.start(options)) {
            onEmbedded.run(server.jdbcUrl(), server.user(), server.password());
        }
    }

    private static void measure(Target target, Bench bench) throws Exception {
        target.check();
        try {
            bench.run(target.url(), target.userName(), target.password());
        } catch (WindlassException e) {
            throw CommandFailure.ofMigration(e, target);
        }
    }

    /** What is measured. */
    @FunctionalInterface
    interface Bench {
        void run(String url, @Nullable String user, @Nullable String password) throws Exception;
    }
}
