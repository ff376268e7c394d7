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
    private static final List<String> OUTBOX_ONLY = List.of("--inbox-table", "--lease-table", "--work-table");

    private static final Map<String, List<String>> STRANGE = Map.of(
            "outbox",
            OUTBOX_ONLY,
            "timers",
            OUTBOX_ONLY,
            "runs",
            OUTBOX_ONLY,
            "jobs",
            OUTBOX_ONLY,
            "joins",
            OUTBOX_ONLY,
            "inbox",
            List.of("--table", "--lease-table", "--work-table"),
            "queue",
            List.of("--table", "--inbox-table", "--lease-table"),
            "leases",
            List.of("--table", "--inbox-table", "--work-table"),
            "status",
            List.of("--lease-table"));

    private Belongings() {}

    static CommandLine sorted(CommandLine root) {
        STRANGE.forEach((command, options) ->
                remove(options, Objects.requireNonNull(root.getSubcommands().get(command))));
        root.getSubcommands().values().forEach(Belongings::fit);
        return root;
    }

    /** Options go that mean nothing in a queue; what is called otherwise in each queue has its name from there. */
    private static void fit(CommandLine group) {
        if (!(group.getCommand() instanceof OfQueue above)) {
            return;
        }
        WorkQueue<?, ?> queue = above.queue();
        for (CommandLine command : group.getSubcommands().values()) {
            if (!queue.hasSources()) {
                remove(List.of("--source"), command);
            }
            if (!queue.hasTurns()) {
                remove(List.of("--per-key"), command);
            }
            if (!(queue instanceof TimerQueue) && command.getCommandSpec().findOption("--key") != null) {
                remove(List.of("--topic", "--key"), command);
            }
            label(command.getCommandSpec(), queue);
            command.getCommandSpec().resourceBundle(queue.words());
        }
    }

    /** Where one is not named by an id alone, or a topic is called otherwise, the help says so. */
    private static void label(CommandSpec spec, WorkQueue<?, ?> queue) {
        for (PositionalParamSpec given : List.copyOf(spec.positionalParameters())) {
            if (given.paramLabel().equals("ID") && given.arity().isVariable()) {
                relabel(spec, given, "[" + queue.names() + "...]");
            } else if (given.paramLabel().equals("TOPIC")) {
                relabel(spec, given, queue.topicHead());
            }
        }
    }

    private static void relabel(CommandSpec spec, PositionalParamSpec given, String label) {
        spec.remove(given);
        spec.addPositional(PositionalParamSpec.builder(given)
                .paramLabel(label)
                .hideParamSyntax(true)
                .build());
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
