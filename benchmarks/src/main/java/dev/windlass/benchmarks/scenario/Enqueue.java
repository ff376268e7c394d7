package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.Ability;
import dev.windlass.benchmarks.system.Payloads;
import dev.windlass.benchmarks.system.Producer;
import dev.windlass.benchmarks.system.SystemUnderTest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Writing: many in a call, and one with a business change. */
final class Enqueue implements Scenario {
    static final String TOGETHER = "with a business change, 4 threads";
    static final String OF_BARE_CHANGE = "of bare INSERTs, 4 threads";
    private static final String MANY = "1,000 in a call";
    private static final String OF_BARE_MANY = "of a bare JDBC batch";
    private static final int PER_CALL = 1000;

    /** Of this round. */
    private final Map<String, Double> bare = new HashMap<>();

    @Override
    public String name() {
        return "enqueue";
    }

    @Override
    public String title() {
        return "Enqueue";
    }

    @Override
    public String about() {
        return "Many messages in one call, each call a transaction, by one thread; and one message together with one row of a"
                + " business table in one transaction, by 4 threads. The yardstick writes the same rows into a table like the"
                + " outbox by bare INSERTs of the same driver.";
    }

    @Override
    public String shown() {
        return TOGETHER;
    }

    @Override
    public void run(Lab lab) throws Exception {
        try (BareRows rows = new BareRows(lab)) {
            List<Step> steps = new ArrayList<>();
            steps.add(bare(
                    rows, MANY, () -> BareRows.rate(calls(lab) * PER_CALL, 1, PER_CALL, () -> rows.batch(PER_CALL))));
            for (SystemUnderTest system : lab.different()) {
                steps.add(new Step(system.name(), sink -> {
                    double rate = many(lab, system);
                    sink.put(MANY, Unit.PER_SECOND, rate);
                    sink.put(OF_BARE_MANY, Unit.PART, rate / bare.getOrDefault(MANY, Double.NaN));
                }));
            }
            steps.add(bare(
                    rows, TOGETHER, () -> BareRows.rate(transactions(lab), BusinessTable.THREADS, 1, rows::together)));
            for (SystemUnderTest system : lab.able(lab.different(), Ability.TRANSACTION)) {
                steps.add(new Step(system.name(), sink -> {
                    double rate = together(lab, system, rows.business());
                    sink.put(TOGETHER, Unit.PER_SECOND, rate);
                    sink.put(OF_BARE_CHANGE, Unit.PART, rate / bare.getOrDefault(TOGETHER, Double.NaN));
                }));
            }
            lab.interleave(steps);
        }
    }

    private Step bare(BareRows rows, String measure, Callable<Double> rate) {
        return new Step(BareRows.NAME, sink -> {
            rows.empty();
            bare.put(measure, rate.call());
            sink.put(measure, Unit.PER_SECOND, bare.get(measure));
        });
    }

    private static int calls(Lab lab) {
        return Math.max(1, lab.scale().messages() / PER_CALL / 2);
    }

    private static int transactions(Lab lab) {
        return Math.max(40, lab.scale().messages() / 5);
    }

    private static double many(Lab lab, SystemUnderTest system) throws Exception {
        system.fill(Lab.TOPIC, 0, 0);
        int calls = Math.max(1, (int) Math.ceil(calls(lab) * Math.min(1, system.share() * 2)));
        List<String> payloads =
                Collections.nCopies(PER_CALL, Payloads.of(0, lab.scale().payloadBytes()));
        try (Producer producer = system.producer()) {
            double rate = BareRows.rate(calls * PER_CALL, 1, PER_CALL, () -> producer.enqueueAll(Lab.TOPIC, payloads));
            expect(system, calls * PER_CALL);
            return rate;
        }
    }

    private static double together(Lab lab, SystemUnderTest system, BusinessTable business) throws Exception {
        system.fill(Lab.TOPIC, 0, 0);
        String payload = Payloads.of(0, lab.scale().payloadBytes());
        try (Producer producer = system.producer()) {
            double rate = BareRows.rate(
                    transactions(lab),
                    BusinessTable.THREADS,
                    1,
                    () -> producer.enqueueWith(business::insert, Lab.TOPIC, payload));
            expect(system, transactions(lab));
            return rate;
        }
    }

    private static void expect(SystemUnderTest system, int written) throws Exception {
        if (system.left() != written) {
            throw new IllegalStateException("expected " + written + " messages to be written, got " + system.left());
        }
        system.empty();
    }
}
