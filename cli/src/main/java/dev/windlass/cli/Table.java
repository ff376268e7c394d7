package dev.windlass.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Columns as wide as they need; the last takes what is left of the width. */
final class Table {
    private static final int LEAST_REST = 30;
    private static final String GAP = "  ";

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... heads) {
        row(heads);
    }

    void row(String... cells) {
        List<String> row = new ArrayList<>();
        for (String cell : cells) {
            row.add(Printable.line(cell));
        }
        rows.add(row);
    }

    void print(PrintWriter out, int width) {
        int last = rows.get(0).size() - 1;
        int[] widths = new int[last];
        for (List<String> row : rows) {
            for (int i = 0; i < last; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        int rest = width;
        for (int taken : widths) {
            rest -= taken + GAP.length();
        }
        for (List<String> row : rows) {
            out.println(line(row, widths, Math.max(LEAST_REST, rest)));
        }
    }

    private static String line(List<String> row, int[] widths, int rest) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            line.append(row.get(i))
                    .append(" ".repeat(widths[i] - row.get(i).length()))
                    .append(GAP);
        }
        return line.append(Printable.cut(row.get(widths.length), rest))
                .toString()
                .stripTrailing();
    }
}
