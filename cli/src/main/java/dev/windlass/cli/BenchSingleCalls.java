package dev.windlass.cli;

import dev.windlass.cli.bench.SingleCalls;
import dev.windlass.embedded.EmbeddedPostgres;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures calls one by one, in a schema of its own that is dropped at the end. */
@Command(
        footer = "Works in the schema windlass_bench, which is dropped before and after. Without --url, on an embedded"
                + " PostgreSQL with fsync on.")
abstract class BenchSingleCalls implements Callable<Integer> {

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

    abstract SingleCalls bench(PrintWriter out, SingleCalls.Settings settings);

    @Override
    public Integer call() throws Exception {
        SingleCalls bench = bench(spec.commandLine().getOut(), settings());
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

    private SingleCalls.Settings settings() {
        try {
            return new SingleCalls.Settings(times, rounds);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
