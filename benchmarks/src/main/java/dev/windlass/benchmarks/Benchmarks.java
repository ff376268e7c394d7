package dev.windlass.benchmarks;

import dev.windlass.benchmarks.scenario.Scale;
import dev.windlass.benchmarks.scenario.Scenario;
import dev.windlass.benchmarks.scenario.Scenarios;
import dev.windlass.benchmarks.system.Server;
import dev.windlass.benchmarks.system.Systems;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The command. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Measures Windlass beside other libraries, and writes benchmarks.md with charts.")
final class Benchmarks implements Callable<Integer> {

    @Option(names = "--only", split = ",", paramLabel = "SCENARIO", description = "only these, or those that begin so")
    private List<String> only = List.of();

    @Option(names = "--systems", split = ",", paramLabel = "SYSTEM", description = "only these, or those that begin so")
    private List<String> systems = List.of();

    @Option(names = "--rounds", description = "how often each number is measured")
    private @Nullable Integer rounds;

    @Option(names = "--messages", description = "of one drain by the fastest systems; others get fewer")
    private @Nullable Integer messages;

    @Option(names = "--quick", description = "some minutes instead of up to an hour")
    private boolean quick;

    @Option(names = "--full", description = "with the backlog of 10 million")
    private boolean full;

    @Option(
            names = "--url",
            description = "a database that is there, for a superuser; otherwise one is started, with fsync on")
    private @Nullable String url;

    @Option(names = "--user", description = "its user, if it is not in the URL")
    private String user = "";

    @Option(names = "--out", paramLabel = "DIR", description = "where benchmarks.md goes; default: ${DEFAULT-VALUE}")
    private Path out = Path.of("docs");

    @CommandLine.Spec
    private CommandLine.Model.@Nullable CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Benchmarks()).execute(arguments)); // some systems leave threads behind
    }

    @Override
    public Integer call() throws Exception {
        List<Scenario> scenarios = chosen("scenario", Scenarios.all(), Scenario::name, only);
        List<String> names = chosen("system", Systems.names(), Function.identity(), systems);
        PrintWriter progress = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        try (BenchmarkServer server = url == null ? BenchmarkServer.embedded() : BenchmarkServer.at(server(url))) {
            return new Run(server.server(), scale(), progress).measure(scenarios, names, out, how()) ? 0 : 1;
        }
    }

    private Server server(String given) {
        String password = System.getenv().getOrDefault("PGPASSWORD", "");
        return new Server(given, user, password);
    }

    private Scale scale() {
        Scale scale = quick ? Scale.quick() : Scale.usual();
        scale = rounds == null ? scale : scale.withRounds(rounds);
        scale = messages == null ? scale : scale.withMessages(messages);
        return full ? scale.withBacklog(10_000_000) : scale;
    }

    private String how() {
        StringBuilder told = new StringBuilder();
        told.append(only.isEmpty() ? "" : " --only " + String.join(",", only));
        told.append(systems.isEmpty() ? "" : " --systems " + String.join(",", systems));
        told.append(rounds == null ? "" : " --rounds " + rounds);
        told.append(messages == null ? "" : " --messages " + messages);
        told.append(quick ? " --quick" : "");
        return told.append(full ? " --full" : "").toString();
    }

    private <T> List<T> chosen(String what, List<T> all, Function<T, String> name, List<String> wanted) {
        for (String each : wanted) {
            if (all.stream().noneMatch(one -> name.apply(one).startsWith(each))) {
                List<String> names = all.stream().map(name).toList();
                String told = "expected a " + what + " of " + names + ", got " + each;
                throw spec == null
                        ? new IllegalArgumentException(told)
                        : new ParameterException(spec.commandLine(), told);
            }
        }
        return wanted.isEmpty()
                ? all
                : all.stream()
                        .filter(one ->
                                wanted.stream().anyMatch(each -> name.apply(one).startsWith(each)))
                        .toList();
    }
}
