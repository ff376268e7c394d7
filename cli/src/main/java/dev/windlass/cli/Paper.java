package dev.windlass.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Where a command prints, and how wide that is.
 *
 * @param isScreen whether lines have to fit: in a file, one row stays one line
 */
record Paper(PrintWriter out, int width, boolean isScreen) {
    static final int WIDTH_OF_A_FILE = 160;
    private static final int WIDTH_OF_A_SCREEN = 80;
    private static final int LEAST = 20;

    /** A width that was exported counts, as for other programs, also where there is no terminal. */
    static Paper of(PrintWriter out, Map<String, String> environment, Terminal terminal) {
        String columns = environment.getOrDefault("COLUMNS", "");
        if (columns.matches("[1-9]\\d{0,3}")) {
            return new Paper(out, Math.max(LEAST, Integer.parseInt(columns)), true);
        }
        return terminal.isThere()
                ? new Paper(out, Math.max(LEAST, terminal.columns().orElse(WIDTH_OF_A_SCREEN)), true)
                : new Paper(out, WIDTH_OF_A_FILE, false);
    }

    /** Prints a sentence, on a screen in as many lines as it needs. */
    void sentence(String text) {
        if (isScreen) {
            wrapped(text, "  ").forEach(out::println);
        } else {
            out.println(text);
        }
    }

    /** The words of a text in lines that fit; all but the first begin with the indentation. */
    List<String> wrapped(String text, String indentation) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder(
                text.substring(0, text.length() - text.stripLeading().length()));
        for (String word : text.strip().split(" +", -1)) {
            boolean first = line.toString().isBlank();
            if (first || Printable.length(line.toString()) + 1 + Printable.length(word) <= width) {
                line.append(first ? "" : " ").append(word);
            } else {
                lines.add(line.toString());
                line = new StringBuilder(indentation + word);
            }
        }
        lines.add(line.toString());
        return lines;
    }
}
