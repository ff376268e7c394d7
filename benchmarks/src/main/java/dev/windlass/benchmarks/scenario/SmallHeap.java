package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.scenario.Lab.Unmeasured;
import dev.windlass.benchmarks.system.SystemUnderTest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Many small messages, and large ones, by a process with a small heap. */
final class SmallHeap implements Scenario {
    private static final String LARGE = "8 MB payloads, 256 MB heap: peak";
    private static final int LARGE_BYTES = 8_000_000;
    private static final int LARGE_COUNT = 50;
    private static final int MINUTES = 4;

    @Override
    public String name() {
        return "heap";
    }

    @Override
    public String title() {
        return "A small heap";
    }

    @Override
    public String about() {
        return "A worker process with a heap of 64 MB drains a million small messages (systems that are slower, their share of"
                + " them), and one with 256 MB drains 50 payloads of 8 MB. The number is the highest use of the heap, garbage"
                + " included, so it says most where it stays below the limit; a process that ends for want of memory is left"
                + " out. Settings are the same as elsewhere.";
    }

    @Override
    public String shown() {
        return LARGE;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        int large = Math.min(LARGE_COUNT, lab.scale().messages() / 10);
        for (SystemUnderTest system : lab.systems(each -> !each.name().equals("windlass-tuned-kept"))) {
            steps.add(new Step(system.name(), sink -> {
                int messages = Scale.share(system, lab.scale().million());
                double peak = peak(lab, system, messages, lab.scale().payloadBytes(), "-Xmx64m");
                sink.put("small messages, 64 MB heap: peak", Unit.MEGABYTES, peak);
            }));
            steps.add(new Step(
                    system.name(),
                    sink -> sink.put(LARGE, Unit.MEGABYTES, peak(lab, system, large, LARGE_BYTES, "-Xmx256m"))));
        }
        lab.once(steps);
    }

    private static double peak(Lab lab, SystemUnderTest system, int messages, int bytes, String heap) throws Exception {
        system.fill(Lab.TOPIC, messages, bytes);
        try (WorkerProcess process = WorkerProcess.start(lab.server(), system.name(), List.of(heap))) {
            process.begin();
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
            while (!system.isDone()) {
                if (!process.isAlive()) {
                    throw new Unmeasured(
                            "out of memory with " + messages + " messages of " + bytes + " bytes and " + heap);
                }
                if (System.nanoTime() > deadline) {
                    throw new Unmeasured("not done after " + MINUTES + " minutes with " + messages + " messages of "
                            + bytes + " bytes and " + heap);
                }
                Thread.sleep(20);
            }
            process.rest();
            return process.peakMegabytes();
        } finally {
            system.empty();
        }
    }
}
