package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.Producer;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** From the commit to the start of the handler, at a steady rate. */
final class Latency implements Scenario {
    private static final int SLOW = 50;
    private static final int FAST = 1000;

    private final boolean elsewhere;

    /** @param elsewhere whether handlers are in another process than the writer */
    Latency(boolean elsewhere) {
        this.elsewhere = elsewhere;
    }

    @Override
    public String name() {
        return elsewhere ? "latency-other" : "latency";
    }

    @Override
    public String title() {
        return elsewhere ? "Latency, handlers in another process" : "Latency, handlers in the same process";
    }

    @Override
    public String about() {
        return "From the end of the commit to the start of the handler, messages at a steady rate, "
                + (elsewhere
                        ? "written by one process and handled by another, which has handled a backlog before."
                        : "written and handled by one process.");
    }

    @Override
    public String shown() {
        return measure(SLOW, "p50");
    }

    private static String measure(int perSecond, String percentile) {
        return perSecond + "/s, " + percentile;
    }

    @Override
    public void run(Lab lab) throws Exception {
        for (int perSecond : new int[] {SLOW, FAST}) {
            List<Step> steps = new ArrayList<>();
            for (SystemUnderTest system : lab.different()) {
                steps.add(new Step(system.name(), sink -> {
                    Percentiles took = elsewhere ? other(lab, system, perSecond) : same(lab, system, perSecond);
                    sink.put(measure(perSecond, "p50"), Unit.MILLISECONDS, took.p50());
                    sink.put(measure(perSecond, "p99"), Unit.MILLISECONDS, took.p99());
                }));
            }
            lab.interleaveWarm(steps);
        }
    }

    private static Percentiles same(Lab lab, SystemUnderTest system, int perSecond) throws Exception {
        system.fill(Lab.TOPIC, 0, 0);
        SteadyLoad load = new SteadyLoad(perSecond, lab.scale().steady());
        try (Workers workers =
                        system.start((topic, payload) -> load.started(payload, System.nanoTime()), List.of(Lab.TOPIC));
                Producer producer = system.producer(workers)) {
            Percentiles took = load.send(producer, Lab.TOPIC, lab.scale().payloadBytes());
            TimedDrain.awaitDone(system);
            return took;
        }
    }

    private static Percentiles other(Lab lab, SystemUnderTest system, int perSecond) throws Exception {
        system.fill(Lab.TOPIC, lab.scale().messages(system) / 4, lab.scale().payloadBytes());
        SteadyLoad load = new SteadyLoad(perSecond, lab.scale().steady());
        AtomicBoolean warm = new AtomicBoolean();
        WorkerProcess.Listener listener = (payload, nanos) -> {
            if (warm.get()) {
                load.started(payload, nanos);
            }
        };
        try (WorkerProcess process = WorkerProcess.start(lab.server(), system.name(), listener);
                Producer producer = system.producer()) {
            process.begin();
            TimedDrain.awaitDone(system);
            process.awaitHeard();
            warm.set(true);
            Percentiles took = load.send(producer, Lab.TOPIC, lab.scale().payloadBytes());
            TimedDrain.awaitDone(system);
            return took;
        }
    }
}
