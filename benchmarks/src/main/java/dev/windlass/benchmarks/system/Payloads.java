package dev.windlass.benchmarks.system;

/** Texts that begin with a number and are filled up to a size. */
public final class Payloads {
    private Payloads() {}

    public static String of(int number, int bytes) {
        String start = number + " ";
        return start + "x".repeat(Math.max(0, bytes - start.length()));
    }

    public static int number(String payload) {
        return Integer.parseInt(payload.substring(0, payload.indexOf(' ')));
    }
}
