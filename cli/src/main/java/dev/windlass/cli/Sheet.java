package dev.windlass.cli;

import java.io.PrintWriter;
import java.util.Optional;

/** What is known of one thing, line by line; what is not there has no line. */
record Sheet(PrintWriter out) {

    void line(String name, Object value) {
        out.printf("%-16s%s%n", name, Printable.line(value.toString()));
    }

    void line(String name, Optional<?> value) {
        value.ifPresent(present -> line(name, present));
    }

    void block(String name, String text) {
        out.println(name);
        Printable.lines(text).lines().forEach(line -> out.println("    " + line));
    }

    void block(String name, Optional<String> text) {
        text.ifPresent(present -> block(name, present));
    }
}
