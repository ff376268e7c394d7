package dev.windlass.cli.bench;

import java.io.PrintWriter;
import java.util.Locale;

/** What a measurement prints, line by line as it goes. */
record Report(PrintWriter out) {

    void say(String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }

    /** A part of a line, which {@link #say} ends. */
    void begin(String format, Object... values) {
        out.print(String.format(Locale.ROOT, format, values));
        out.flush();
    }
}
