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

    /** What is said of a word that is no command there. */
    static String unknown(CommandSpec above, String word) {
        String name = above.qualifiedName();
        return above.subcommands().isEmpty()
                ? "expected nothing after '" + name + "', got '" + word + "'"
                : "expected a command of '" + name + "', got '" + word + "'; " + below(above);
    }

    /** The commands there are below one. */
    static String below(CommandSpec above) {
        return (above.subcommands().size() == 1 ? "there is: " : "there are: ")
                + String.join(", ", above.subcommands().keySet());
    }
}
