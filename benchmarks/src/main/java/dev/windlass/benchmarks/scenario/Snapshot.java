package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.scenario.TimedDrain.Rate;
import dev.windlass.benchmarks.system.SystemUnderTest;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A drain while another session holds a snapshot, as a report or a backup does. */
final class Snapshot implements Scenario {
    private static final String DRAINED = "drained under an open snapshot";

    @Override
    public String name() {
        return "snapshot";
    }

    @Override
    public String title() {
        return "Drain under an open snapshot";
    }

    @Override
    public String about() {
        return "The same drain while another session holds a snapshot, as a report or a backup does: what was handled cannot be"
                + " cleaned up meanwhile. The yardstick is the system's own drain without the snapshot, in the same round.";
    }

    @Override
    public String shown() {
        return DRAINED;
    }

    @Override
    public void run(Lab lab) throws Exception {
        List<Step> steps = new ArrayList<>();
        for (SystemUnderTest system : lab.systems(each -> true)) {
            steps.add(new Step(system.name(), sink -> {
                int messages = lab.scale().messages(system);
                int bytes = lab.scale().payloadBytes();
                double normal = TimedDrain.of(system, messages, bytes).whole();
                Rate rate = under(lab, system, messages);
                sink.put(DRAINED, Unit.PER_SECOND, rate.whole());
                sink.put("of the drain without it", Unit.PART, rate.whole() / normal);
                sink.put("last tenth to first tenth", Unit.PART, rate.lastToFirst());
            }));
        }
        lab.interleave(steps);
    }

    private static Rate under(Lab lab, SystemUnderTest system, int messages) throws Exception {
        system.fill(Lab.TOPIC, messages, lab.scale().payloadBytes());
        try (var pool = lab.server().pool("public", 1);
                Connection report = pool.getConnection();
                Statement statement = report.createStatement()) {
            report.setAutoCommit(false);
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("select count(*) from pg_class");
            Rate rate = TimedDrain.ofFilled(system, messages);
            report.rollback();
            return rate;
        }
    }
}
