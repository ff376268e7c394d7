package dev.windlass.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import picocli.CommandLine;

/** What a command left behind. */
record Ran(int exitCode, String out, String err) {

    static Ran windlass(String... arguments) {
        return windlass(Map.of(), arguments);
    }

    static Ran windlass(Map<String, String> environment, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command =
                Main.commandLine(environment).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int exitCode = command.execute(arguments);
        return new Ran(exitCode, out.toString(), err.toString());
    }
}
