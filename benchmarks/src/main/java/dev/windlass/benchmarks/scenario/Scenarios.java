package dev.windlass.benchmarks.scenario;

import java.util.List;

/** All scenarios, in the order of the page. */
public final class Scenarios {
    private Scenarios() {}

    public static List<Scenario> all() {
        return List.of(
                new Drain(false),
                new Drain(true),
                new ColdStart(),
                new Enqueue(),
                new Latency(false),
                new Latency(true),
                new ManyTimers(),
                new MixedTopics(),
                new Idle(),
                new Snapshot(),
                new Backlog(),
                new SmallHeap(),
                new Processes(),
                new Ordered(),
                new InboxDrain(),
                new WorkDrain(),
                new LeaseCalls());
    }

    public static List<String> names() {
        return all().stream().map(Scenario::name).toList();
    }
}
