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
                "expected a command after '" + spec.qualifiedName() + "', got none; " + below(spec));
    }

    /** The commands there are below one. */
    static String below(CommandSpec above) {
        return (above.subcommands().size() == 1 ? "there is: " : "there are: ")
                + String.join(", ", above.subcommands().keySet());
    }
}
