package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.Producer;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A fast topic beside a slow one that has a backlog. */
final class MixedTopics implements Scenario {
    private static final String SLOW = "slow";
    private static final int PER_SECOND = 50;
    private static final int SLOW_MILLIS = 100;
    private static final int SLOW_PER_SECOND = 700;
    private static final String BESIDE = "fast beside slow, p99";

    @Override
    public String name() {
        return "mixed";
    }

    @Override
    public String title() {
        return "A fast topic beside a slow one";
    }

    @Override
    public String about() {
        return "50 messages a second of a fast topic, while a slow topic (handlers of 100 ms) has a backlog that outlasts the"
                + " measurement. From the commit to the start of the handler; the yardstick is the fast topic alone, in the same"
                + " round.";
    }

    @Override
    public String shown() {
        return BESIDE;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (SystemUnderTest system : lab.different()) {
            steps.add(new Step(system.name(), sink -> {
                Percentiles alone = fast(lab, system, 0);
                Percentiles beside = fast(lab, system, backlog(lab));
                sink.put("fast alone, p99", Unit.MILLISECONDS, alone.p99());
                sink.put("fast beside slow, p50", Unit.MILLISECONDS, beside.p50());
                sink.put(BESIDE, Unit.MILLISECONDS, beside.p99());
                sink.put("p99, times alone", Unit.TIMES, beside.p99() / alone.p99());
            }));
        }
        lab.interleaveWarm(steps);
    }

    /** For as long as the fast topic is measured, and some more, with as many handlers as any of the systems has. */
    private static int backlog(Lab lab) {
        return (int) (SLOW_PER_SECOND * lab.scale().steady().toMillis() * 2 / 1000);
    }

    private static Percentiles fast(Lab lab, SystemUnderTest system, int slow) throws Exception {
        system.fill(SLOW, slow, lab.scale().payloadBytes());
        SteadyLoad load = new SteadyLoad(PER_SECOND, lab.scale().steady());
        CountDownLatch slowBegins = new CountDownLatch(slow == 0 ? 0 : 1);
        CountDownLatch over = new CountDownLatch(1);
        try (Workers workers = system.start(
                        (topic, payload) -> {
                            if (topic.equals(SLOW)) {
                                slowBegins.countDown();
                                over.await(SLOW_MILLIS, TimeUnit.MILLISECONDS);
                            } else {
                                load.started(payload, System.nanoTime());
                            }
                        },
                        List.of(Lab.TOPIC, SLOW));
                Producer producer = system.producer(workers)) {
            slowBegins.await();
            Percentiles took = load.send(producer, Lab.TOPIC, lab.scale().payloadBytes());
            over.countDown();
            TimedDrain.awaitDone(system);
            return took;
        }
    }
}
