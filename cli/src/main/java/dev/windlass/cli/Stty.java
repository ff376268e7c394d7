package dev.windlass.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The program that knows and changes the settings of the terminal that controls this process. */
final class Stty {
    static final File TERMINAL = new File("/dev/tty");

    private Stty() {}

    /** Returns what it printed, if it went well. */
    static Optional<String> run(String argument) {
        try {
            Process stty = new ProcessBuilder("stty", argument)
                    .redirectInput(TERMINAL)
                    .redirectErrorStream(true)
                    .start();
            String said = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return stty.waitFor() == 0 ? Optional.of(said) : Optional.empty();
        } catch (IOException missing) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
