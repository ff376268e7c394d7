package dev.windlass.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A word that means nothing without the command after it. */
abstract class CommandGroup implements Runnable {

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public final void run() {
        throw new ParameterException(
                spec.commandLine(),
                "expected one of " + String.join(", ", spec.subcommands().keySet()) + ", got none");
    }
}
