package dev.windlass.cli;

import dev.windlass.cli.bench.Load;
import dev.windlass.cli.bench.OutboxBench;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures Windlass on this machine, or on a given database. */
@Command(
        name = "bench",
        description = "Measure throughput and latency beside what the database itself can do.",
        subcommands = {
            BenchCommand.OutboxCommand.class,
            BenchInboxCommand.class,
            BenchJoinsCommand.class,
            BenchLeasesCommand.class,
            BenchStoresCommand.class,
            BenchTimersCommand.class,
            BenchWorkCommand.class
        })
final class BenchCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(),
                "expected what to measure, got nothing; there are: outbox, inbox, joins, leases, stores, timers, work");
    }

    /** Enqueue, drain and latency of the outbox, in a schema of its own that is dropped at the end. */
    @Command(
            name = "outbox",
            description = {
                "Enqueue, drain and latency of the outbox.",
                "Works in the schema windlass_bench, which is dropped before and after. Without --url, on an embedded"
                        + " PostgreSQL with fsync on."
            })
    static final class OutboxCommand implements Callable<Integer> {

        @Spec
        @SuppressWarnings("NullAway.Init")
        private CommandSpec spec;

        @Mixin
        private BenchTarget target = new BenchTarget();

        @Option(names = "--messages", defaultValue = "100000", description = "How many (default ${DEFAULT-VALUE}).")
        private int messages;

        @Option(names = "--payload", defaultValue = "200", description = "Bytes of each (default ${DEFAULT-VALUE}).")
        private int payload;

        @Option(names = "--batch", defaultValue = "1000", description = "Messages a claim (default ${DEFAULT-VALUE}).")
        private int batch;

        @Option(
                names = "--concurrency",
                defaultValue = "16",
                description = "Handlers at once (default ${DEFAULT-VALUE}).")
        private int concurrency;

        @Option(
                names = "--rounds",
                defaultValue = "3",
                description = "Rounds; medians are shown (default ${DEFAULT-VALUE}).")
        private int rounds;

        @Option(names = "--delete", description = "Delete handled messages instead of keeping them.")
        private boolean delete;

        @Option(names = "--open-snapshot", description = "Drain once more while another session holds a snapshot.")
        private boolean openSnapshot;

        @Option(
                names = "--only",
                split = ",",
                defaultValue = "drain,enqueue,latency",
                paramLabel = "PART",
                description = "What to measure (default ${DEFAULT-VALUE}).")
        private Set<OutboxBench.Part> parts = EnumSet.allOf(OutboxBench.Part.class);

        @Override
        public Integer call() throws Exception {
            OutboxBench bench = new OutboxBench(spec.commandLine().getOut(), settings());
            target.measure(spec, bench::run);
            return 0;
        }

        private OutboxBench.Settings settings() {
            try {
                Load load = new Load(messages, payload, batch, concurrency, rounds, !delete);
                return new OutboxBench.Settings(load, openSnapshot, parts);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
            }
        }
    }
}
