package dev.windlass.cli;

import dev.windlass.cli.bench.Load;
import dev.windlass.cli.bench.StoresBench;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A fleet over many databases. */
@Command(
        name = "stores",
        description = {
            "A fleet over many databases of one server: throughput beside a single Windlass, what it costs at rest, the"
                    + " latency of first messages, and stores beside one that hangs and one that is down.",
            "Makes databases windlass_bench_1, windlass_bench_2 and so on, and drops them at the end; if there are such"
                    + " before, it refuses to start. Without --url, on an embedded PostgreSQL with fsync on. Each takes about"
                    + " 10 MB of disk; on a server of yours, to drop one may take a second."
        })
final class BenchStoresCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private BenchTarget target = new BenchTarget();

    @Option(names = "--messages", defaultValue = "20000", description = "How many (default ${DEFAULT-VALUE}).")
    private int messages;

    @Option(names = "--payload", defaultValue = "200", description = "Bytes of each (default ${DEFAULT-VALUE}).")
    private int payload;

    @Option(names = "--batch", defaultValue = "1000", description = "Messages a claim (default ${DEFAULT-VALUE}).")
    private int batch;

    @Option(
            names = "--concurrency",
            defaultValue = "16",
            description = "Handlers at once, over all stores (default ${DEFAULT-VALUE}).")
    private int concurrency;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds; medians are shown (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--warm-up",
            defaultValue = "2",
            paramLabel = "ROUNDS",
            description = "Rounds before those, which do not count (default ${DEFAULT-VALUE}).")
    private int warmUp;

    @Option(names = "--delete", description = "Delete handled messages instead of keeping them.")
    private boolean delete;

    @Option(
            names = "--stores",
            split = ",",
            defaultValue = "1,10,100",
            paramLabel = "COUNT",
            description = "Over how many stores to measure the throughput (default ${DEFAULT-VALUE}).")
    private List<Integer> stores = List.of();

    @Option(
            names = "--idle-stores",
            defaultValue = "1000",
            description = "How many stores have nothing to do (default ${DEFAULT-VALUE}).")
    private int idleStores;

    @Option(
            names = "--first-messages",
            defaultValue = "200",
            description = "How many stores get a first message (default ${DEFAULT-VALUE}).")
    private int firstMessages;

    @Option(
            names = "--connections",
            defaultValue = "50",
            description = "Connections of the fleet at most, over all stores (default ${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "--quiet",
            defaultValue = "60",
            paramLabel = "SECONDS",
            description = "After how long stores count as idle, and how long they are then watched"
                    + " (default ${DEFAULT-VALUE}).")
    private int quiet;

    @Option(names = "--schemas", description = "Use schemas of one database instead of databases.")
    private boolean schemas;

    @Option(
            names = "--only",
            split = ",",
            defaultValue = "throughput,neighbours,latency,idle",
            paramLabel = "PART",
            description = "What to measure (default ${DEFAULT-VALUE}).")
    private Set<StoresBench.Part> parts = EnumSet.allOf(StoresBench.Part.class);

    @Override
    public Integer call() throws Exception {
        StoresBench bench = new StoresBench(spec.commandLine().getOut(), settings());
        target.measure(spec, bench::run, bench::runOnThrowAway);
        return 0;
    }

    private StoresBench.Settings settings() {
        try {
            Load load = new Load(messages, payload, batch, concurrency, rounds, !delete);
            return new StoresBench.Settings(
                    load,
                    warmUp,
                    stores,
                    idleStores,
                    firstMessages,
                    connections,
                    Duration.ofSeconds(quiet),
                    schemas,
                    parts);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
