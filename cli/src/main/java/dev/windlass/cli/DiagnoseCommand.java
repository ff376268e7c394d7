package dev.windlass.cli;

import picocli.CommandLine.Command;

/** What can be seen of all queues at once. */
@Command(
        name = "diagnose",
        description =
                "Look at all queues at once: totals, delays, leases, what is stuck. A user who may only read can do so.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            DiagnoseTotalsCommand.class,
            DiagnoseDelaysCommand.class,
            DiagnoseLeasesCommand.class,
            DiagnoseStuckCommand.class,
            DiagnoseLapsedCommand.class
        })
final class DiagnoseCommand extends CommandGroup {}
