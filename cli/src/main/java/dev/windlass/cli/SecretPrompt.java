package dev.windlass.cli;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.util.Optional;

/**
 * Asks for a secret on the terminal that controls this process. Java's console would write the question to the standard output,
 * and is not there when that is piped.
 */
final class SecretPrompt {
    private SecretPrompt() {}

    /** Empty if there is no terminal, or none whose echo can be turned off. */
    static Optional<String> ask(String prompt) {
        try (OutputStream screen = new FileOutputStream(Stty.TERMINAL);
                FileInputStream keys = new FileInputStream(Stty.TERMINAL)) {
            Optional<String> settings = Stty.run("-g");
            return settings.isPresent() ? Optional.of(ask(prompt, screen, keys, settings.get())) : Optional.empty();
        } catch (IOException noTerminal) {
            return Optional.empty();
        }
    }

    private static String ask(String prompt, OutputStream screen, FileInputStream keys, String settings)
            throws IOException {
        Thread restore = new Thread(() -> Stty.run(settings), "windlass-echo");
        Runtime.getRuntime().addShutdownHook(restore);
        try {
            Stty.run("-echo");
            screen.write(prompt.getBytes(Charset.defaultCharset()));
            screen.flush();
            String answer = new BufferedReader(new InputStreamReader(keys, Charset.defaultCharset())).readLine();
            screen.write('\n');
            return answer == null ? "" : answer;
        } finally {
            Stty.run(settings);
            Runtime.getRuntime().removeShutdownHook(restore);
        }
    }
}
