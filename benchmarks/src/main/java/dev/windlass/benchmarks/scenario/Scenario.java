package dev.windlass.benchmarks.scenario;

/** Something to measure. */
public interface Scenario {

    /** As in the option {@code --only}. */
    String name();

    String title();

    /** What is done and what the numbers mean, for the page. */
    String about();

    /** The measure that the chart shows. */
    String shown();

    void run(Lab lab) throws Exception;
}
