package dev.windlass.cli;

import dev.windlass.cli.bench.LeaseBench;
import dev.windlass.embedded.EmbeddedPostgres;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Acquiring and releasing, in a schema of its own that is dropped at the end. */
@Command(
        name = "leases",
        description = {
            "Acquiring and releasing leases, beside a bare upsert of one row.",
            "Works in the schema windlass_bench, which is dropped before and after. Without --url, on an embedded"
                    + " PostgreSQL with fsync on."
        })
final class BenchLeasesCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Option(names = "--times", defaultValue = "1000", description = "How often in a round (default ${DEFAULT-VALUE}).")
    private int times;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds; medians are shown (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Override
    public Integer call() throws Exception {
        LeaseBench bench = new LeaseBench(spec.commandLine().getOut(), settings());
        Optional<Target> target =
                database.target(spec, WindlassCommand.above(spec).environment());
        if (target.isPresent()) {
            target.get().check();
            bench.run(target.get().url(), target.get().user(), target.get().password());
            return 0;
        }
        try (EmbeddedPostgres server =
                EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withFsync(true))) {
            bench.run(server.jdbcUrl(), server.user(), server.password());
        }
        return 0;
    }

    private LeaseBench.Settings settings() {
        try {
            return new LeaseBench.Settings(times, rounds);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
