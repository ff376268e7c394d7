package dev.windlass.benchmarks.scenario;

import dev.windlass.WindlassBuilder;
import dev.windlass.benchmarks.report.Unit;
import dev.windlass.benchmarks.scenario.Lab.Step;
import dev.windlass.benchmarks.system.WindlassSystem;
import dev.windlass.inbox.InboxOptions;
import java.util.List;

/** A backlog in the inbox, also with handlers that work in a transaction. */
final class InboxDrain implements Scenario {
    private static final String DRAINED = "drained";
    private static final String PART = "of the outbox, kept";
    private static final BusinessTable BUSINESS = new BusinessTable("orders");
    private static final String FILL = """
            do $$
            begin
                for i in 0 .. (%1$d + 999) / 1000 - 1 loop
                    perform %3$s.inbox_enqueue_all(
                                array_agg('bench'::text), array_agg('message ' || n), array_agg('%4$s'::text),
                                array_agg(rpad(n || ' ', %2$d, 'x')), p_notify => false)
                       from generate_series(i * 1000, least((i + 1) * 1000, %1$d) - 1) n;
                    commit;
                end loop;
            end $$
            """;

    private double outbox;

    @Override
    public String name() {
        return "inbox";
    }

    @Override
    public String title() {
        return "Inbox";
    }

    @Override
    public String about() {
        return "Queued messages of the inbox, which remembers them so that none is handled twice, drained by one process in batches"
                + " of 1,000: with handlers that do nothing, with handlers that write a row in a transaction which also"
                + " completes the message, and with such that take up to 100 messages in one. The yardstick is the drain of an outbox that keeps its messages, in the same round.";
    }

    @Override
    public String shown() {
        return DRAINED;
    }

    @Override
    public void run(Lab lab) throws Exception {
        lab.different().stream()
                .filter(each -> !each.name().equals("windlass"))
                .forEach(each -> lab.leaveOut(each.name(), "no inbox"));
        if (lab.windlass("windlass-tuned-kept").isEmpty()) {
            return;
        }
        WindlassSystem system = lab.windlass("windlass-tuned-kept").get();
        system.tables().execute(BUSINESS.ddl());
        int messages = lab.scale().messages();
        int bytes = lab.scale().payloadBytes();
        lab.interleave(List.of(
                new Step("outbox, kept", sink -> {
                    outbox = TimedDrain.of(system, messages, bytes).whole();
                    sink.put(DRAINED, Unit.PER_SECOND, outbox);
                }),
                new Step("inbox", sink -> {
                    double rate = drain(system, messages, bytes, 0);
                    sink.put(DRAINED, Unit.PER_SECOND, rate);
                    sink.put(PART, Unit.PART, rate / outbox);
                }),
                new Step("inbox, handlers in a transaction", sink -> {
                    double rate = drain(system, Math.max(40, messages / 4), bytes, 1);
                    sink.put(DRAINED, Unit.PER_SECOND, rate);
                    sink.put(PART, Unit.PART, rate / outbox);
                }),
                new Step("inbox, 100 in a transaction", sink -> {
                    double rate = drain(system, messages, bytes, 100);
                    sink.put(DRAINED, Unit.PER_SECOND, rate);
                    sink.put(PART, Unit.PART, rate / outbox);
                })));
    }

    /**
     * @param together how many messages a transaction of the handler has at most; none, if the handler has no transaction
     */
    private static double drain(WindlassSystem system, int messages, int bytes, int together) throws Exception {
        system.empty();
        system.tables().execute("truncate " + BUSINESS.name());
        system.tables().execute(FILL.formatted(messages, bytes, system.tables().schema(), Lab.TOPIC));
        system.tables().settle("inbox", "inbox_seen");
        WindlassDrain drain = new WindlassDrain(messages);
        WindlassBuilder builder = system.builder().inbox(InboxOptions.defaults().withBatchSize(1000));
        if (together > 0) {
            builder.inboxHandlerInTransaction(Lab.TOPIC, together, (connection, waiting) -> {
                waiting.forEach(message -> drain.handled());
                BUSINESS.insert(connection, waiting.size());
            });
        } else {
            builder.inboxHandler(Lab.TOPIC, message -> drain.handled());
        }
        double rate = drain.rate(
                builder,
                system.tables(),
                "select not exists (select from inbox where status = 0 and not keyed)"
                        + " and not exists (select from inbox where status = 1)");
        check(system, messages, together > 0);
        return rate;
    }

    private static void check(WindlassSystem system, int messages, boolean inTransaction) throws Exception {
        double done = system.tables().number("select count(*) from inbox where status = 2");
        double written = system.tables().number("select count(*) from " + BUSINESS.name());
        if (done != messages || (inTransaction && written != messages)) {
            throw new IllegalStateException("expected " + messages + " messages done, got " + done + " with " + written
                    + " rows of their transactions");
        }
    }
}
