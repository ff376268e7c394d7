package dev.windlass.benchmarks.system;

/** Handlers at work, until they are closed. */
public interface Workers extends AutoCloseable {
    @Override
    void close();
}
