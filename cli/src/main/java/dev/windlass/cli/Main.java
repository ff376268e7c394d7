package dev.windlass.cli;

import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;

/** The program {@code windlass}. */
public final class Main {

    /** The driver logs connection errors, with the URL, before it throws them; a field, because loggers are weakly held. */
    private static final Logger DRIVER = Logger.getLogger("org.postgresql");

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(commandLine(System.getenv()).execute(arguments));
    }

    static CommandLine commandLine(Map<String, String> environment) {
        return commandLine(environment, new ProcessTerminal());
    }

    static CommandLine commandLine(Map<String, String> environment, Terminal terminal) {
        DRIVER.setLevel(Level.OFF);
        WindlassCommand root = new WindlassCommand(environment, terminal);
        return Variables.readBy(Belongings.sorted(new CommandLine(root)), environment)
                .setParameterExceptionHandler(Failures::wrongUse)
                .setExecutionExceptionHandler((failure, command, parsed) -> Failures.report(failure, command, root))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true);
    }
}
