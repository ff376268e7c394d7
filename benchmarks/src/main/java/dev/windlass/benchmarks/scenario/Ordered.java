package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.Ability;
import dev.windlass.benchmarks.system.SystemUnderTest;
import java.util.ArrayList;
import java.util.List;

/** A drain of messages under ordering keys. */
final class Ordered implements Scenario {
    private static final int KEYS = 1000;
    private static final String DRAINED = "drained under ordering keys";

    @Override
    public String name() {
        return "ordered";
    }

    @Override
    public String title() {
        return "Drain in order";
    }

    @Override
    public String about() {
        return "Messages under 1,000 ordering keys in turn: those of one key are handled one after the other, in their order. The"
                + " yardstick is the system's own drain without keys, in the same round.";
    }

    @Override
    public String shown() {
        return DRAINED;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (SystemUnderTest system : lab.able(lab.systems(each -> true), Ability.ORDERING)) {
            steps.add(new Step(system.name(), sink -> {
                int messages = lab.scale().messages(system);
                int bytes = lab.scale().payloadBytes();
                double plain = TimedDrain.of(system, messages, bytes).whole();
                system.fillOrdered(Lab.TOPIC, messages, bytes, KEYS);
                double ordered = TimedDrain.ofFilled(system, messages).whole();
                sink.put(DRAINED, Unit.PER_SECOND, ordered);
                sink.put("of the drain without keys", Unit.PART, ordered / plain);
            }));
        }
        lab.interleave(steps);
    }
}
