package dev.windlass.cli;

import dev.windlass.cli.bench.SingleCalls;
import java.io.PrintWriter;
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
    private BenchTarget target = new BenchTarget();

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
        target.measure(spec, bench::run);
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
