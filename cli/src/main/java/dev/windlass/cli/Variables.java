package dev.windlass.cli;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/**
 * Options by environment variables: {@code WINDLASS_} and the name of the option in capitals, with underscores for dashes.
 *
 * <p>Options that say how Windlass runs have one. Those that say what one call is about have none: a variable that was left
 * behind must not choose what is deleted.
 */
final class Variables implements IDefaultValueProvider {

    /** What one call is about; docs/cli.md lists them. */
    static final Set<String> WITHOUT = Set.of(
            // which ones
            "--topic",
            "--source",
            "--from",
            "--until",
            "--error",
            "--state",
            "--key",
            "--older",
            "--held",
            "--problems",
            "--all",
            "--after",
            "--file",
            "--databases",
            "--schemas",
            // what is done to them
            "--yes",
            "--dry-run",
            "--full",
            "--keep-attempts",
            "--reason",
            "--at",
            "--in",
            "--running",
            "--per-key",
            "--rate",
            "--none",
            // means one thing here and another there
            "--payload",
            "--only",
            // no settings
            "--help",
            "--version");

    /** Read by {@link DatabaseOptions}, where a variable is weaker than some options and stronger than others. */
    private static final Set<String> OF_DATABASE = Set.of("--url", "--user", "--password", "--password-file");

    /** What Kubernetes puts there for a service: of one called windlass, WINDLASS_PORT is tcp://10.0.0.7:8080. */
    private static final Pattern OF_KUBERNETES = Pattern.compile("(tcp|udp|sctp)://.*");

    private final Map<String, String> environment;

    private Variables(Map<String, String> environment) {
        this.environment = environment;
    }

    static CommandLine readBy(CommandLine root, Map<String, String> environment) {
        allow(root);
        return root.setDefaultValueProvider(new Variables(environment));
    }

    /** The variable of an option, if it has one. */
    static Optional<String> nameFor(OptionSpec option) {
        String name = option.longestName();
        return WITHOUT.contains(name) || !name.startsWith("--")
                ? Optional.empty()
                : Optional.of("WINDLASS_" + name.substring(2).replace('-', '_').toUpperCase(Locale.ROOT));
    }

    /** An empty variable counts as none: that is how many deployments unset one. */
    static Optional<String> value(Map<String, String> environment, String variable) {
        return Optional.ofNullable(environment.get(variable))
                .filter(value ->
                        !value.isEmpty() && !OF_KUBERNETES.matcher(value).matches());
    }

    @Override
    public @Nullable String defaultValue(ArgSpec argument) {
        return argument instanceof OptionSpec option && !OF_DATABASE.contains(option.longestName())
                ? nameFor(option).flatMap(name -> value(environment, name)).orElse(null)
                : null;
    }

    /** Which variable a value came from that cannot be read, for the end of the sentence that says so. */
    static String origin(ParameterException wrong, String... arguments) {
        return wrong.getArgSpec() instanceof OptionSpec option && !isSaid(option, arguments)
                ? nameFor(option)
                        .filter(WindlassCommand.above(wrong.getCommandLine().getCommandSpec())
                                .environment()::containsKey)
                        .map(name -> " (from the variable " + name + ")")
                        .orElse("")
                : "";
    }

    private static boolean isSaid(OptionSpec option, String... arguments) {
        return Stream.of(option.names())
                .anyMatch(name -> Stream.of(arguments)
                        .anyMatch(argument -> argument.equals(name) || argument.startsWith(name + "=")));
    }

    /** A flag that a variable has set would be taken back by saying it again, unless it has a value of its own. */
    private static void allow(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        for (OptionSpec option : List.copyOf(spec.options())) {
            if (isFlag(option)) {
                spec.remove(option);
                spec.addOption(OptionSpec.builder(option).fallbackValue("true").build());
            }
        }
        command.getSubcommands().values().forEach(Variables::allow);
    }

    private static boolean isFlag(OptionSpec option) {
        return option.type() == boolean.class && option.arity().max() == 0 && option.scopeType() == ScopeType.LOCAL;
    }
}
