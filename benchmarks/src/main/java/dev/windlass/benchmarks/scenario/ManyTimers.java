package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.scenario.Lab.Unmeasured;
import dev.windlass.benchmarks.system.Ability;
import dev.windlass.benchmarks.system.Payloads;
import dev.windlass.benchmarks.system.Producer;
import dev.windlass.benchmarks.system.Producer.Due;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Workers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/** Timers that are all due within one second. */
final class ManyTimers implements Scenario {
    private static final String P99 = "handler late, p99";
    private static final int PROBE = 100;
    private static final int PATIENCE_SECONDS = 60;
    private static final Duration LEAD = Duration.ofSeconds(2);

    @Override
    public String name() {
        return "timers";
    }

    @Override
    public String title() {
        return "10,000 timers in one second";
    }

    @Override
    public String about() {
        return "10,000 timers that are due within one second, evenly spread, written before; how late their handlers start, in one"
                + " process. A number below zero means too early.";
    }

    @Override
    public String shown() {
        return P99;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (SystemUnderTest system : lab.able(lab.different(), Ability.TIMER)) {
            steps.add(new Step(system.name(), sink -> {
                Percentiles late = late(lab, system);
                sink.put("handler late, p50", Unit.MILLISECONDS, late.p50());
                sink.put(P99, Unit.MILLISECONDS, late.p99());
            }));
        }
        lab.interleaveWarm(steps);
    }

    private static Percentiles late(Lab lab, SystemUnderTest system) throws Exception {
        int timers = lab.scale().timers();
        system.fill(Lab.TOPIC, 0, 0);
        AtomicLongArray started = new AtomicLongArray(timers + PROBE);
        CountDownLatch all = new CountDownLatch(timers);
        try (Workers workers = system.start(
                        (topic, payload) -> {
                            int number = Payloads.number(payload);
                            if (started.compareAndSet(number, 0, nanos(Instant.now())) && number < timers) {
                                all.countDown();
                            }
                        },
                        List.of(Lab.TOPIC));
                Producer producer = system.producer(workers)) {
            Instant first = Instant.now().plus(LEAD).plus(writing(producer, timers));
            List<Due> dues = IntStream.range(0, timers)
                    .mapToObj(n -> new Due(
                            Payloads.of(n, lab.scale().payloadBytes()),
                            first.plusNanos(n * TimeUnit.SECONDS.toNanos(1) / timers)))
                    .toList();
            producer.schedule(Lab.TOPIC, dues);
            if (Instant.now().isAfter(first)) {
                throw new Unmeasured("writing the timers took longer than was planned");
            }
            if (!all.await(
                    PATIENCE_SECONDS + Duration.between(Instant.now(), first).toSeconds(), TimeUnit.SECONDS)) {
                throw new Unmeasured(all.getCount() + " of " + timers + " not handled " + PATIENCE_SECONDS
                        + " s after they were due");
            }
            TimedDrain.awaitDone(system);
            return Percentiles.of(IntStream.range(0, timers)
                    .mapToLong(n -> started.get(n) - nanos(dues.get(n).at()))
                    .toArray());
        }
    }

    private static long nanos(Instant at) {
        return TimeUnit.SECONDS.toNanos(at.getEpochSecond()) + at.getNano();
    }

    /** How long it will take to write them, with some reserve: some systems write them one by one. */
    private static Duration writing(Producer producer, int timers) throws Exception {
        long start = System.nanoTime();
        producer.schedule(
                Lab.TOPIC,
                IntStream.range(timers, timers + PROBE)
                        .mapToObj(n -> new Due(Payloads.of(n, 200), Instant.now()))
                        .toList());
        return Duration.ofNanos((System.nanoTime() - start) * timers / PROBE * 4);
    }
}
