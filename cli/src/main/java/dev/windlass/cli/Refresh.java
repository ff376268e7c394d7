package dev.windlass.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;

/**
 * Shows the same thing again and again: on a screen in the same place, elsewhere one below the other.
 *
 * @param inPlace whether there is a terminal that understands so
 */
record Refresh(Paper page, boolean inPlace) {
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_REST = "\u001b[J";

    /** Written in one piece, each line over the old one, so that nothing flickers. */
    void show(String head, Consumer<Paper> content) {
        StringWriter lines = new StringWriter();
        PrintWriter writer = new PrintWriter(lines);
        Paper draft = new Paper(writer, page.width(), page.isScreen());
        draft.sentence(head);
        content.accept(draft);
        writer.flush();
        PrintWriter out = page.out();
        if (inPlace) {
            out.print(HOME
                    + lines.toString().replace(System.lineSeparator(), CLEAR_LINE + System.lineSeparator())
                    + CLEAR_REST);
        } else {
            out.println(lines);
        }
        out.flush();
    }
}
