package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.ServerLimit;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.WindlassSystem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A backlog of messages that do nothing. */
final class Drain implements Scenario {
    static final String DRAINED = "drained";
    static final String PART = "of the server's limit";
    static final String LIMIT = "server limit, deleted";
    private static final String LIMIT_KEPT = "server limit, kept";

    private static final int LONGER = 4;

    private final boolean isLong;
    /** Of this round. */
    private final Map<String, Double> limits = new HashMap<>();

    /** @param isLong with four times the messages, by Windlass alone: how far it is from the limit when everything is warm */
    Drain(boolean isLong) {
        this.isLong = isLong;
    }

    @Override
    public String name() {
        return isLong ? "drain-long" : "drain";
    }

    @Override
    public String title() {
        return isLong ? "Drain of a larger backlog" : "Drain of a backlog";
    }

    @Override
    public String about() {
        return isLong
                ? "The same with four times the messages, by Windlass alone."
                : "Messages of 200 bytes that do nothing are there; workers of one process handle them. The server's limit is a"
                        + " stored procedure that claims and acks through Windlass's own routines in the same table: the best over 1 to 3"
                        + " sessions and batches of 100, 500 and 1,000. Systems that keep handled messages are compared with the limit"
                        + " that keeps them.";
    }

    @Override
    public String shown() {
        return DRAINED;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        if (isLong) {
            lab.systems(each -> !(each instanceof WindlassSystem))
                    .forEach(each -> lab.leaveOut(each.name(), "measured with the smaller backlog"));
        }
        limit(lab, steps, "windlass-tuned", LIMIT);
        limit(lab, steps, "windlass-tuned-kept", LIMIT_KEPT);
        for (SystemUnderTest system : lab.systems(each -> !isLong || each instanceof WindlassSystem)) {
            int messages = lab.scale().messages(system) * times();
            String limit = keeps(system) ? LIMIT_KEPT : LIMIT;
            steps.add(new Step(system.name(), sink -> {
                double rate = TimedDrain.of(system, messages, lab.scale().payloadBytes())
                        .whole();
                sink.put(DRAINED, Unit.PER_SECOND, rate);
                if (limits.containsKey(limit)) {
                    sink.put(PART, Unit.PART, rate / limits.get(limit));
                }
            }));
        }
        if (isLong) {
            lab.interleaveWarm(steps);
        } else {
            lab.interleave(steps);
        }
    }

    private int times() {
        return isLong ? LONGER : 1;
    }

    private static boolean keeps(SystemUnderTest system) {
        return system instanceof WindlassSystem windlass
                ? windlass.keeps()
                : system.name().equals("jobrunr");
    }

    private void limit(Lab lab, List<Step> steps, String of, String name) throws Exception {
        int messages = lab.scale().messages() * times();
        int bytes = lab.scale().payloadBytes();
        if (lab.windlass(of).isPresent()) {
            ServerLimit limit = new ServerLimit(lab.windlass(of).get(), Lab.TOPIC);
            limit.search(lab.scale().messages() / 2, bytes);
            steps.add(new Step(name, sink -> {
                double rate = limit.drain(messages, bytes);
                limits.put(name, rate);
                sink.put(DRAINED, Unit.PER_SECOND, rate);
            }));
        }
    }
}
