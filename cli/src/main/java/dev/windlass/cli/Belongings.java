package dev.windlass.cli;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Fits commands that several groups share to each of them; takes options away that mean nothing to a command. */
final class Belongings {
    private static final List<String> OUTBOX_ONLY = List.of("--inbox-table", "--lease-table");

    private static final Map<String, List<String>> STRANGE = Map.of(
            "outbox",
            OUTBOX_ONLY,
            "timers",
            OUTBOX_ONLY,
            "runs",
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
        root.getSubcommands().values().forEach(Belongings::fit);
        return root;
    }

    /** Timers have no source, and only they have keys; what is called otherwise in each queue has its name from there. */
    private static void fit(CommandLine group) {
        if (!(group.getCommand() instanceof OfQueue above)) {
            return;
        }
        boolean timers = above.queue() instanceof TimerQueue;
        for (CommandLine command : group.getSubcommands().values()) {
            if (timers) {
                remove(List.of("--source"), command);
            } else if (command.getCommandSpec().findOption("--key") != null) {
                remove(List.of("--topic", "--key"), command);
            }
            label(command.getCommandSpec(), above.queue());
            command.getCommandSpec().resourceBundle(above.queue().words());
        }
    }

    /** Where one is not named by an id alone, the help says so. */
    private static void label(CommandSpec spec, WorkQueue<?, ?> queue) {
        for (PositionalParamSpec names : List.copyOf(spec.positionalParameters())) {
            if (names.paramLabel().equals("ID") && names.arity().isVariable()) {
                spec.remove(names);
                spec.addPositional(PositionalParamSpec.builder(names)
                        .paramLabel("[" + queue.names() + "...]")
                        .hideParamSyntax(true)
                        .build());
            }
        }
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
