package dev.windlass.cli;

import dev.windlass.cli.bench.WorkBench;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The work queue beside the outbox. */
@Command(
        name = "work",
        description = {
            "Claim and completion of items of the work queue, with limits and priorities and without, beside the outbox's drain.",
            "Works in the schema windlass_bench, which is dropped before and after. Without --url, on an embedded"
                    + " PostgreSQL with fsync on."
        })
final class BenchWorkCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private BenchTarget target = new BenchTarget();

    @Option(names = "--items", defaultValue = "50000", description = "How many (default ${DEFAULT-VALUE}).")
    private int items;

    @Option(names = "--payload", defaultValue = "200", description = "Bytes of each (default ${DEFAULT-VALUE}).")
    private int payload;

    @Option(names = "--batch", defaultValue = "200", description = "Items a claim (default ${DEFAULT-VALUE}).")
    private int batch;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "Rounds; medians are shown (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Override
    public Integer call() throws Exception {
        target.measure(spec, bench()::run);
        return 0;
    }

    private WorkBench bench() {
        try {
            return new WorkBench(spec.commandLine().getOut(), items, payload, batch, rounds);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
