package dev.windlass.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;

/** What a command left behind. */
record Ran(int exitCode, String out, String err) {

    static Ran windlass(String... arguments) {
        return windlass(Map.of(), arguments);
    }

    /** With somebody in front of the screen who answers like this. */
    static Ran answering(BooleanSupplier yes, String... arguments) {
        return windlass(Map.of(), new Answer(true, yes), arguments);
    }

    static Ran windlass(Map<String, String> environment, String... arguments) {
        return windlass(environment, new Answer(false, () -> false), arguments);
    }

    private record Answer(boolean isThere, BooleanSupplier yes) implements Terminal {
        @Override
        public boolean confirms(String question) {
            return yes.getAsBoolean();
        }
    }

    private static Ran windlass(Map<String, String> environment, Terminal terminal, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = Main.commandLine(environment, terminal)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        int exitCode = command.execute(arguments);
        return new Ran(exitCode, out.toString(), err.toString());
    }
}
