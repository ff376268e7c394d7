package dev.windlass.benchmarks.report;

import java.util.List;

/** Horizontal bars, the median of each system with its spread, as SVG that follows the reader's light or dark colours. */
public final class BarChart {
    private static final int WIDTH = 760;
    private static final int LEFT = 210;
    private static final int RIGHT = 150;
    private static final int TOP = 44;
    private static final int ROW = 28;
    private static final String STYLE = """
            <style>
              text { font: 13px system-ui, sans-serif; fill: #24292f; }
              .title { font-weight: 600; font-size: 14px; }
              .windlass { fill: #0b7285; }
              .peer { fill: #868e96; }
              .yardstick { fill: #ced4da; }
              .spread { stroke: #24292f; stroke-width: 1.5; }
              @media (prefers-color-scheme: dark) {
                text { fill: #e6edf3; }
                .windlass { fill: #3bc9db; }
                .peer { fill: #868e96; }
                .yardstick { fill: #495057; }
                .spread { stroke: #e6edf3; }
              }
            </style>
            """;

    private BarChart() {}

    /** Nothing to see, if there are no bars. */
    public static String of(String title, List<Series> bars) {
        double highest = bars.stream().mapToDouble(Series::high).max().orElse(0);
        int height = TOP + ROW * bars.size() + 12;
        StringBuilder svg = new StringBuilder();
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">%n"
                .formatted(WIDTH, height));
        svg.append("<title>").append(escaped(title)).append("</title>\n");
        svg.append(STYLE);
        svg.append("<text class=\"title\" x=\"8\" y=\"24\">%s</text>%n".formatted(escaped(title + unit(bars))));
        for (int i = 0; i < bars.size(); i++) {
            row(svg, bars.get(i), TOP + ROW * i, highest);
        }
        return svg.append("</svg>\n").toString();
    }

    private static String unit(List<Series> bars) {
        return bars.isEmpty()
                ? ""
                : ", " + bars.get(0).unit().text()
                        + (bars.get(0).unit().higherIsBetter() ? " (longer is better)" : " (shorter is better)");
    }

    private static void row(StringBuilder svg, Series bar, int y, double highest) {
        svg.append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>%n"
                .formatted(LEFT - 8, y + 15, escaped(bar.system())));
        svg.append("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" rx=\"2\"/>%n"
                .formatted(kind(bar.system()), LEFT, y, Math.max(1, length(bar.median(), highest))));
        if (bar.values().size() > 1) {
            svg.append("<line class=\"spread\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%2$d\"/>%n"
                    .formatted(LEFT + length(bar.low(), highest), y + 10, LEFT + length(bar.high(), highest)));
        }
        svg.append("<text x=\"%d\" y=\"%d\">%s</text>%n"
                .formatted(
                        LEFT + Math.max(length(bar.median(), highest), length(bar.high(), highest)) + 8,
                        y + 15,
                        escaped(bar.unit().format(bar.median()))));
    }

    private static int length(double value, double highest) {
        return highest <= 0 ? 0 : (int) Math.round(Math.max(0, value) / highest * (WIDTH - LEFT - RIGHT));
    }

    private static String kind(String system) {
        if (Page.isYardstick(system)) {
            return "yardstick";
        }
        return Page.isWindlass(system) ? "windlass" : "peer";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
