package dev.windlass.cli;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Takes options away from commands to which they mean nothing: all share the class that has them. */
final class Belongings {
    private static final List<String> OUTBOX_ONLY = List.of("--inbox-table", "--lease-table");

    private static final Map<String, List<String>> STRANGE = Map.of(
            "outbox",
            OUTBOX_ONLY,
            "timers",
            OUTBOX_ONLY,
            "jobs",
            OUTBOX_ONLY,
            "inbox",
            List.of("--table", "--lease-table"),
            "leases",
            List.of("--table", "--inbox-table"),
            "status",
            List.of("--lease-table"));

    private Belongings() {}

    static CommandLine sorted(CommandLine root) {
        STRANGE.forEach((command, options) ->
                remove(options, Objects.requireNonNull(root.getSubcommands().get(command))));
        return root;
    }

    private static void remove(List<String> options, CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        for (String name : options) {
            OptionSpec option = spec.findOption(name);
            if (option != null) {
                spec.remove(option);
            }
        }
        command.getSubcommands().values().forEach(below -> remove(options, below));
    }
}
