package dev.windlass.cli;

import java.io.Console;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** The terminal this process was started from. */
final class ProcessTerminal implements Terminal {
    private static final Set<String> YES = Set.of("y", "yes");

    private final Optional<Console> console = Optional.ofNullable(System.console());

    @Override
    public boolean isThere() {
        return console.filter(ProcessTerminal::isTerminal).isPresent();
    }

    /** From Java 22 on there is a console without a terminal too, which says so. */
    private static boolean isTerminal(Console console) {
        try {
            return Boolean.TRUE.equals(Console.class.getMethod("isTerminal").invoke(console));
        } catch (ReflectiveOperationException olderJava) {
            return true;
        }
    }

    @Override
    public OptionalInt columns() {
        return Stty.run("size")
                .filter(size -> size.matches("\\d+ [1-9]\\d{0,3}"))
                .map(size -> OptionalInt.of(Integer.parseInt(size.split(" ", 2)[1])))
                .orElseGet(OptionalInt::empty);
    }

    @Override
    public boolean confirms(String question) {
        return console.map(terminal -> terminal.readLine("%s [y/N] ", question))
                .filter(answer -> YES.contains(answer.strip().toLowerCase(Locale.ROOT)))
                .isPresent();
    }

    /** Where there is no such device, as on Windows, the console has to do. */
    @Override
    public Optional<String> password(String prompt) {
        return SecretPrompt.ask(prompt)
                .or(() -> console.filter(ProcessTerminal::isTerminal)
                        .map(terminal -> terminal.readPassword("%s", prompt))
                        .map(String::new));
    }
}
