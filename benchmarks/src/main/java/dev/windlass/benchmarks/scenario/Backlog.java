package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.scenario.Lab.Unmeasured;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** How fast the first messages of a large backlog are handled. */
final class Backlog implements Scenario {
    private static final int FIRST = 50_000;
    private static final int SMALL = 10_000;
    private static final int MEDIUM = 100_000;
    private static final int LARGE = 1_000_000;
    private static final int MINUTES = 5;

    @Override
    public String name() {
        return "backlog";
    }

    @Override
    public String title() {
        return "A large backlog";
    }

    @Override
    public String about() {
        return "How fast the first messages are handled (50,000 at most) when many more wait: a backlog must not slow down its own"
                + " work. To count what is left would itself be work for the database; so the workers are stopped then, and what"
                + " counts is what they have completed until they have ended. Some of the others take seconds to end: of them what"
                + " their handlers have done counts. Measured once for each size, after a drain to warm up. Others have 100,000 at most, since some take many"
                + " minutes to write more; 10 million only by --full.";
    }

    @Override
    public String shown() {
        return told(SMALL);
    }

    private static String told(int size) {
        return String.format(Locale.ROOT, "first of %,d", size);
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (SystemUnderTest system : lab.systems(each -> !each.name().equals("windlass-tuned-kept"))) {
            steps.add(new Step(system.name(), sink -> {
                TimedDrain.of(system, lab.scale().messages(system), lab.scale().payloadBytes());
                for (int size : sizes(lab, system)) {
                    sink.put(told(size), Unit.PER_SECOND, rate(lab, system, size));
                }
                system.empty();
            }));
        }
        lab.once(steps);
    }

    private static List<Integer> sizes(Lab lab, SystemUnderTest system) {
        int largest = isWindlass(system)
                ? lab.scale().backlog()
                : Math.min(MEDIUM, lab.scale().backlog());
        return Stream.of(SMALL, MEDIUM, LARGE, largest)
                .filter(size -> size <= largest)
                .distinct()
                .toList();
    }

    @SuppressWarnings("try") // the workers are at work meanwhile
    private static double rate(Lab lab, SystemUnderTest system, int size) throws Exception {
        int first = Math.min(size, Scale.share(system, FIRST));
        system.fill(Lab.TOPIC, size, lab.scale().payloadBytes());
        AtomicInteger handled = new AtomicInteger();
        AtomicLong began = new AtomicLong();
        CountDownLatch enough = new CountDownLatch(1);
        long enoughAt;
        try (Workers workers = system.start(
                (topic, payload) -> {
                    int count = handled.incrementAndGet();
                    if (count == 1) {
                        began.set(System.nanoTime());
                    } else if (count == first) {
                        enough.countDown();
                    }
                },
                List.of(Lab.TOPIC))) {
            if (!enough.await(MINUTES, TimeUnit.MINUTES)) {
                throw new Unmeasured("handled " + handled.get() + " of " + first + " within " + MINUTES
                        + " minutes with a backlog of " + size);
            }
            enoughAt = System.nanoTime();
        }
        if (!isWindlass(system)) {
            return first / ((enoughAt - began.get()) / 1e9);
        }
        long end = System.nanoTime();
        return (size - system.left()) / ((end - began.get()) / 1e9);
    }

    private static boolean isWindlass(SystemUnderTest system) {
        return system.name().startsWith("windlass");
    }
}
