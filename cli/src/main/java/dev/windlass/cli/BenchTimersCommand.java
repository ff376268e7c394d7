package dev.windlass.cli;

import dev.windlass.cli.bench.TimersBench;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Writing timers, letting them become messages, and how late they are. */
@Command(
        name = "timers",
        description = "Writing timers and their hand-off, beside writing messages; how late they are.",
        footer = "Works in the schema windlass_bench, which is dropped before and after. Without --url, on an embedded"
                + " PostgreSQL with fsync on.")
final class BenchTimersCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private BenchTarget target = new BenchTarget();

    @Option(names = "--timers", defaultValue = "50000", description = "How many (default ${DEFAULT-VALUE}).")
    private int timers;

    @Option(names = "--payload", defaultValue = "200", description = "Bytes of each (default ${DEFAULT-VALUE}).")
    private int payload;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "Rounds; medians are shown (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--seconds",
            defaultValue = "1",
            description = "For how long 10,000 timers a second are due (default ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--pending",
            defaultValue = "1000000",
            description = "How many others are pending meanwhile (default ${DEFAULT-VALUE}).")
    private int pending;

    @Override
    public Integer call() throws Exception {
        TimersBench bench = new TimersBench(spec.commandLine().getOut(), settings());
        target.measure(spec, bench::run);
        return 0;
    }

    private TimersBench.Settings settings() {
        try {
            return new TimersBench.Settings(timers, payload, rounds, Duration.ofSeconds(seconds), pending);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
