package dev.windlass.cli;

import dev.windlass.embedded.EmbeddedPostgres;
import java.nio.file.Path;

/** The PostgreSQL that {@code serve} brings along: durable, and closed by its caller, after everything that uses it. */
final class OwnServer implements AutoCloseable {
    private final EmbeddedPostgres postgres;
    private final Path directory;

    private OwnServer(EmbeddedPostgres postgres, Path directory) {
        this.postgres = postgres;
        this.directory = directory;
    }

    static OwnServer start(Path directory, int port) {
        EmbeddedPostgres postgres = EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults()
                .withDataDirectory(directory)
                .withPort(port)
                .withFsync(true)
                .withStopAtExit(false));
        return new OwnServer(postgres, directory);
    }

    Target target() {
        return new Target(postgres.jdbcUrl(), postgres.user(), postgres.password());
    }

    Path directory() {
        return directory;
    }

    Path passwordFile() {
        return directory.resolve("password");
    }

    /** Fails with a sentence when the server has gone without being asked. */
    void check() {
        if (!postgres.isRunning()) {
            throw new CommandFailure("PostgreSQL on %s has ended by itself; see %s for the reason, and start again"
                    .formatted(directory, directory.resolve("server.log")));
        }
    }

    @Override
    public void close() {
        postgres.close();
    }
}
