package dev.windlass.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Columns as wide as they need; the last takes what is left of the width. On a screen that is too narrow, columns that say nothing
 * are left out, and if that is not enough, each row becomes some lines.
 */
final class Table {
    private static final int LEAST_REST = 30;
    private static final String GAP = "  ";
    private static final String INDENTATION = "  ";
    private static final Set<String> NOTHING = Set.of("-", "0");

    private final List<List<String>> rows = new ArrayList<>();
    /** How many columns after the first stand at the right. */
    private int numbers;

    Table(String... heads) {
        this(0, heads);
    }

    private Table(int numbers, String... heads) {
        this.numbers = numbers;
        row(heads);
    }

    /** All columns but the first stand at the right. */
    static Table ofNumbers(String... heads) {
        return new Table(heads.length - 1, heads);
    }

    /** All columns but the first and the last stand at the right. */
    static Table ofNumbersAndText(String... heads) {
        return new Table(heads.length - 2, heads);
    }

    private boolean isNumber(int column) {
        return column > 0 && column <= numbers;
    }

    void row(String... cells) {
        List<String> row = new ArrayList<>();
        for (String cell : cells) {
            row.add(Printable.line(cell));
        }
        rows.add(row);
    }

    void print(Paper page) {
        if (!page.isScreen() || fits(page)) {
            printColumns(page);
            return;
        }
        leaveOutWhatSaysNothing(page);
        if (fits(page)) {
            printColumns(page);
        } else {
            printStacked(page);
        }
    }

    private boolean fits(Paper page) {
        int[] widths = widths();
        int last = widths.length - 1;
        int needed = isNumber(last) ? widths[last] : Math.min(widths[last], LEAST_REST);
        for (int i = 0; i < last; i++) {
            needed += widths[i] + GAP.length();
        }
        return needed <= page.width();
    }

    private int[] widths() {
        return IntStream.range(0, rows.get(0).size())
                .map(i -> rows.stream()
                        .mapToInt(row -> Printable.length(row.get(i)))
                        .max()
                        .orElse(0))
                .toArray();
    }

    /** From the right, and no more than it takes: what comes and goes with each look is hard to read. */
    private void leaveOutWhatSaysNothing(Paper page) {
        for (int i = rows.get(0).size() - 1; i > 0 && !fits(page); i--) {
            int column = i;
            if (rows.stream().skip(1).allMatch(row -> NOTHING.contains(row.get(column)))) {
                rows.forEach(row -> row.remove(column));
                numbers -= isNumber(column) ? 1 : 0;
            }
        }
    }

    private void printColumns(Paper page) {
        int[] widths = widths();
        int last = widths.length - 1;
        int rest = page.width();
        for (int i = 0; i < last; i++) {
            rest -= widths[i] + GAP.length();
        }
        for (List<String> row : rows) {
            page.out().println(line(row, widths, Math.max(LEAST_REST, rest)));
        }
    }

    private String line(List<String> row, int[] widths, int rest) {
        int last = widths.length - 1;
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < last; i++) {
            line.append(padded(row.get(i), widths[i], isNumber(i))).append(GAP);
        }
        String end = isNumber(last) ? padded(row.get(last), widths[last], true) : Printable.cut(row.get(last), rest);
        return line.append(end).toString().stripTrailing();
    }

    private static String padded(String cell, int width, boolean right) {
        String blanks = " ".repeat(Math.max(0, width - Printable.length(cell)));
        return right ? blanks + cell : cell + blanks;
    }

    /** The first cell, which names the row, and below it what there is of the others, with their names. */
    private void printStacked(Paper page) {
        for (List<String> row : rows.subList(1, rows.size())) {
            page.out().println(row.get(0));
            StringBuilder line = new StringBuilder();
            for (int i = 1; i < row.size(); i++) {
                if (!NOTHING.contains(row.get(i))) {
                    add(rows.get(0).get(i).toLowerCase(Locale.ROOT) + " " + row.get(i), line, page);
                }
            }
            page.out().print(line.isEmpty() ? "" : line + System.lineSeparator());
        }
    }

    private static void add(String part, StringBuilder line, Paper page) {
        if (!line.isEmpty() && Printable.length(line.toString()) + 2 + Printable.length(part) > page.width()) {
            page.out().println(line);
            line.setLength(0);
        }
        line.append(line.isEmpty() ? INDENTATION : ", ");
        line.append(Printable.cut(part, page.width() - Printable.length(line.toString())));
    }
}
