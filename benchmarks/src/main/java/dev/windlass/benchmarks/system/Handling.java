package dev.windlass.benchmarks.system;

/** What is done with a message. */
@FunctionalInterface
public interface Handling {
    void handle(String topic, String payload) throws Exception;
}
