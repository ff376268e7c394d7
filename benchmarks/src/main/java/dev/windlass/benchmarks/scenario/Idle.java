package dev.windlass.benchmarks.scenario;

import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.scenario.Lab.Unmeasured;
import dev.windlass.benchmarks.system.SystemUnderTest;
import dev.windlass.benchmarks.system.Systems;
import dev.windlass.benchmarks.system.Tables;
import dev.windlass.benchmarks.system.Workers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What one node asks of the database when there is nothing to do. */
final class Idle implements Scenario {
    private static final String STATEMENTS = "statements of one idle node";

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String title() {
        return "Idle load";
    }

    @Override
    public String about() {
        return "How many statements a second one worker process sends when there is nothing to do, counted by pg_stat_statements,"
                + " without those that begin and end transactions. It has been idle for a third of the time when counting begins.";
    }

    @Override
    public String shown() {
        return STATEMENTS;
    }

    @Override
    public void run(Lab lab) throws Exception {
        try (Tables tables = new Tables(lab.server(), "public")) {
            List<Step> steps = new ArrayList<>();
            for (SystemUnderTest system : lab.different()) {
                steps.add(new Step(
                        system.name(), sink -> sink.put(STATEMENTS, Unit.STATEMENTS, statements(lab, tables, system))));
            }
            lab.once(steps);
        }
    }

    /** Only its own connections count: some of the others leave threads behind that go on asking. */
    @SuppressWarnings("try") // the workers are at work meanwhile
    private static double statements(Lab lab, Tables tables, SystemUnderTest system) throws Exception {
        system.fill(Lab.TOPIC, 0, 0);
        prepare(tables);
        try (SystemUnderTest idle = Systems.open(system.name(), lab.server().counting());
                Workers workers = idle.start((topic, payload) -> {}, List.of(Lab.TOPIC))) {
            Thread.sleep(lab.scale().idle().toMillis() / 3);
            double before = calls(tables);
            long start = System.nanoTime();
            Thread.sleep(lab.scale().idle().toMillis());
            return (calls(tables) - before) / ((System.nanoTime() - start) / 1e9);
        }
    }

    private static void prepare(Tables tables) throws Unmeasured {
        try {
            tables.execute("create extension if not exists pg_stat_statements");
            calls(tables);
        } catch (SQLException e) {
            throw new Unmeasured("needs pg_stat_statements in shared_preload_libraries, and a superuser");
        }
    }

    private static double calls(Tables tables) throws SQLException {
        return tables.number("select coalesce(sum(calls), 0) from pg_stat_statements"
                + " where query !~* '^(begin|commit|rollback|start transaction)' and query !~ 'pg_stat_statements'");
    }
}
