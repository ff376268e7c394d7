package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Sink;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.SystemUnderTest;
import java.util.ArrayList;
import java.util.List;

/** A drain by one to eight worker processes. */
final class Processes implements Scenario {
    private static final int[] COUNTS = {1, 2, 4, 8};

    @Override
    public String name() {
        return "processes";
    }

    @Override
    public String title() {
        return "Drain by several processes";
    }

    @Override
    public String about() {
        return "The same drain by 1 to 8 worker processes on this machine. Each process has handled a backlog alone before, to warm up."
                + " From the first handler of any process until the database says that nothing is left.";
    }

    @Override
    public String shown() {
        return measure(2);
    }

    private static String measure(int processes) {
        return processes == 1 ? "1 process" : processes + " processes";
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (SystemUnderTest system : lab.systems(each -> !each.name().equals("windlass-tuned-kept"))) {
            steps.add(new Step(system.name(), sink -> measure(lab, system, sink)));
        }
        lab.once(steps);
    }

    private static void measure(Lab lab, SystemUnderTest system, Sink sink) throws Exception {
        List<WorkerProcess> processes = new ArrayList<>();
        try {
            for (int i = 0; i < lab.scale().processes(); i++) {
                processes.add(WorkerProcess.start(lab.server(), system.name(), List.of()));
            }
            int messages = lab.scale().messages(system);
            int bytes = lab.scale().payloadBytes();
            for (WorkerProcess each : processes) {
                drain(system, messages, bytes, List.of(each));
            }
            for (int count : COUNTS) {
                if (count <= processes.size()) {
                    sink.put(
                            measure(count),
                            Unit.PER_SECOND,
                            drain(system, messages, bytes, processes.subList(0, count)));
                }
            }
        } finally {
            for (WorkerProcess each : processes) {
                each.close();
            }
        }
    }

    static double drain(SystemUnderTest system, int messages, int bytes, List<WorkerProcess> processes)
            throws Exception {
        system.fill(Lab.TOPIC, messages, bytes);
        for (WorkerProcess each : processes) {
            each.begin();
        }
        TimedDrain.awaitDone(system);
        long end = System.nanoTime();
        for (WorkerProcess each : processes) {
            each.rest();
        }
        long start = processes.stream()
                .mapToLong(WorkerProcess::first)
                .filter(nanos -> nanos > 0)
                .min()
                .orElseThrow();
        return messages / ((end - start) / 1e9);
    }
}
