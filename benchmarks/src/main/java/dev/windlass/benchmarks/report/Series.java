package dev.windlass.benchmarks.report;

import java.util.List;

/** One number of one system, as it came out in each round. */
public record Series(String scenario, String measure, String system, Unit unit, List<Double> values) {
    public Series {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("expected a value of " + system + " in " + scenario + ", got none");
        }
        values = values.stream().sorted().toList();
    }

    public double median() {
        int middle = values.size() / 2;
        return values.size() % 2 == 1 ? values.get(middle) : (values.get(middle - 1) + values.get(middle)) / 2;
    }

    public double low() {
        return values.get(0);
    }

    public double high() {
        return values.get(values.size() - 1);
    }

    /** The median, and the spread if there is one. */
    public String text() {
        return values.size() == 1
                ? unit.format(median())
                : unit.format(median()) + " (" + unit.format(low()) + " – " + unit.format(high()) + ")";
    }
}
