package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.ServerLimit;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.WindlassSystem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A drain by a process that has just been started. */
final class ColdStart implements Scenario {
    private static final String DRAINED = "drained by a new process";

    /** Of this round. */
    private double limit;

    @Override
    public String name() {
        return "cold";
    }

    @Override
    public String title() {
        return "Drain by a new process";
    }

    @Override
    public String about() {
        return "Half of the messages of the drain above, by a process that has handled nothing before: its compiler is at work"
                + " meanwhile. The server's limit is that of the drain, with as many messages, in the same round.";
    }

    @Override
    public String shown() {
        return DRAINED;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        Optional<WindlassSystem> tuned = lab.windlass("windlass-tuned");
        if (tuned.isPresent()) {
            steps.add(limit(lab, new ServerLimit(tuned.get(), Lab.TOPIC)));
        }
        for (SystemUnderTest system : lab.systems(each -> !each.name().equals("windlass-tuned-kept"))) {
            steps.add(new Step(system.name(), sink -> {
                double rate = rate(lab, system);
                sink.put(DRAINED, Unit.PER_SECOND, rate);
                if (limit > 0 && system.name().equals("windlass-tuned")) {
                    sink.put(Drain.PART, Unit.PART, rate / limit);
                }
            }));
        }
        lab.interleaveWarm(steps);
    }

    private Step limit(Lab lab, ServerLimit server) throws Exception {
        int messages = Math.max(1, lab.scale().messages() / 2);
        server.search(messages, lab.scale().payloadBytes());
        return new Step(Drain.LIMIT, sink -> {
            limit = server.drain(messages, lab.scale().payloadBytes());
            sink.put(DRAINED, Unit.PER_SECOND, limit);
        });
    }

    private static double rate(Lab lab, SystemUnderTest system) throws Exception {
        try (WorkerProcess process = WorkerProcess.start(lab.server(), system.name(), List.of())) {
            return Processes.drain(
                    system, lab.scale().messages(system) / 2, lab.scale().payloadBytes(), List.of(process));
        }
    }
}
