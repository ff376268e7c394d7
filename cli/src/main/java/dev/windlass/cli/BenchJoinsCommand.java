package dev.windlass.cli;

import dev.windlass.cli.bench.JoinsBench;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A join of many members. */
@Command(
        name = "joins",
        description = {
            "Messages that are members of one join, beside the same without.",
            "Works in the schema windlass_bench, which is dropped before and after. Without --url, on an embedded"
                    + " PostgreSQL with fsync on."
        })
final class BenchJoinsCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private BenchTarget target = new BenchTarget();

    @Option(names = "--members", defaultValue = "10000", description = "How many (default ${DEFAULT-VALUE}).")
    private int members;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds; medians are shown (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Override
    public Integer call() throws Exception {
        target.measure(spec, bench()::run);
        return 0;
    }

    private JoinsBench bench() {
        try {
            return new JoinsBench(spec.commandLine().getOut(), members, rounds);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
