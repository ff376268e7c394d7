package dev.windlass.benchmarks.scenario;

import dev.windlass.WindlassBuilder;
import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.WindlassSystem;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import java.time.Duration;
import java.util.List;

/** A backlog in the work queue. */
final class WorkDrain implements Scenario {
    private static final String DRAINED = "drained";
    private static final String PART = "of the outbox";
    private static final String TYPE = "type";
    private static final String FILL = """
            do $$
            begin
                for i in 0 .. (%1$d + 999) / 1000 - 1 loop
                    perform %3$s.work_enqueue_all(
                                null, array_agg('%4$s'::text), array_agg('%5$s'::text),
                                array_agg(rpad(n || ' ', %2$d, 'x')), array_agg(%6$s), p_notify => false)
                       from generate_series(i * 1000, least((i + 1) * 1000, %1$d) - 1) n;
                    commit;
                end loop;
            end $$
            """;

    private double outbox;

    @Override
    public String name() {
        return "work";
    }

    @Override
    public String title() {
        return "Work queue";
    }

    @Override
    public String about() {
        return "Items of the work queue that do nothing, drained by one process in batches of 1,000 and deleted: all of one"
                + " priority, and of ten. The yardstick is the drain of the outbox, in the same round.";
    }

    @Override
    public String shown() {
        return DRAINED;
    }

    @Override
    public void run(Lab lab) throws Exception {
        lab.different().stream()
                .filter(each -> !each.name().equals("windlass"))
                .forEach(each -> lab.leaveOut(each.name(), "its jobs are what the drain above measures"));
        if (lab.windlass("windlass-tuned").isEmpty()) {
            return;
        }
        WindlassSystem system = lab.windlass("windlass-tuned").get();
        int messages = lab.scale().messages();
        lab.interleave(List.of(
                new Step("outbox", sink -> {
                    outbox = TimedDrain.of(system, messages, lab.scale().payloadBytes())
                            .whole();
                    sink.put(DRAINED, Unit.PER_SECOND, outbox);
                }),
                step("work queue", lab, system, "4"),
                step("work queue, ten priorities", lab, system, "n % 10")));
    }

    private Step step(String name, Lab lab, WindlassSystem system, String priority) {
        return new Step(name, sink -> {
            double rate = drain(lab, system, priority);
            sink.put(DRAINED, Unit.PER_SECOND, rate);
            sink.put(PART, Unit.PART, rate / outbox);
        });
    }

    private static double drain(Lab lab, WindlassSystem system, String priority) throws Exception {
        int messages = lab.scale().messages();
        system.empty();
        system.tables()
                .execute(FILL.formatted(
                        messages, lab.scale().payloadBytes(), system.tables().schema(), Lab.TOPIC, TYPE, priority));
        system.tables().settle("work");
        WindlassDrain drain = new WindlassDrain(messages);
        WindlassBuilder builder = system.builder()
                .work(WorkOptions.defaults().withBatchSize(1000).withRetention(Duration.ZERO))
                .workHandler(Lab.TOPIC, TYPE, (WorkItem item) -> drain.handled());
        return drain.rate(builder, system.tables(), "select not exists (select from work)");
    }
}
