package dev.windlass.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import picocli.CommandLine;

/** What a command left behind. */
record Ran(int exitCode, String out, String err) {

    static Ran windlass(String... arguments) {
        return windlass(Map.of(), arguments);
    }

    /** With somebody in front of the screen who answers like this. */
    static Ran answering(BooleanSupplier yes, String... arguments) {
        return windlass(Map.of(), new Answer(true, yes, prompt -> Optional.empty()), arguments);
    }

    /** With somebody who knows the password. */
    static Ran answering(Function<String, Optional<String>> password, String... arguments) {
        return windlass(Map.of(), new Answer(true, () -> false, password), arguments);
    }

    static Ran windlass(Map<String, String> environment, String... arguments) {
        return windlass(environment, new Answer(false, () -> false, prompt -> Optional.empty()), arguments);
    }

    private record Answer(boolean isThere, BooleanSupplier yes, Function<String, Optional<String>> secret)
            implements Terminal {
        @Override
        public boolean confirms(String question) {
            return yes.getAsBoolean();
        }

        @Override
        public OptionalInt columns() {
            return OptionalInt.empty();
        }

        @Override
        public Optional<String> password(String prompt) {
            return secret.apply(prompt);
        }
    }

    /**
     * On a thread of its own, as the program does it: picocli makes some thousand exceptions while it reads the commands, and
     * those take twice the time when each has the hundred frames of JUnit below it.
     */
    private static Ran windlass(Map<String, String> environment, Terminal terminal, String... arguments) {
        return CompletableFuture.supplyAsync(
                        () -> run(environment, terminal, arguments), command -> new Thread(command, "windlass").start())
                .join();
    }

    private static Ran run(Map<String, String> environment, Terminal terminal, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = Main.commandLine(environment, terminal)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        int exitCode = command.execute(arguments);
        return new Ran(exitCode, out.toString(), err.toString());
    }
}
