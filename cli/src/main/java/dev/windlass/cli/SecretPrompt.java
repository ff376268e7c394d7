package dev.windlass.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Asks for a secret on the terminal that controls this process. Java's console would write the question to the standard output,
 * and is not there when that is piped.
 */
final class SecretPrompt {
    private static final File TERMINAL = new File("/dev/tty");

    private SecretPrompt() {}

    /** Empty if there is no terminal, or none whose echo can be turned off. */
    static Optional<String> ask(String prompt) {
        try (OutputStream screen = new FileOutputStream(TERMINAL);
                FileInputStream keys = new FileInputStream(TERMINAL)) {
            Optional<String> settings = stty("-g");
            return settings.isPresent() ? Optional.of(ask(prompt, screen, keys, settings.get())) : Optional.empty();
        } catch (IOException noTerminal) {
            return Optional.empty();
        }
    }

    private static String ask(String prompt, OutputStream screen, FileInputStream keys, String settings)
            throws IOException {
        Thread restore = new Thread(() -> stty(settings), "windlass-echo");
        Runtime.getRuntime().addShutdownHook(restore);
        try {
            stty("-echo");
            screen.write(prompt.getBytes(Charset.defaultCharset()));
            screen.flush();
            String answer = new BufferedReader(new InputStreamReader(keys, Charset.defaultCharset())).readLine();
            screen.write('\n');
            return answer == null ? "" : answer;
        } finally {
            stty(settings);
            Runtime.getRuntime().removeShutdownHook(restore);
        }
    }

    /** Returns what it printed, if it went well. */
    private static Optional<String> stty(String argument) {
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
