package dev.windlass.cli.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.event.WindlassListener;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The same messages in one store or spread over many, beside a Windlass on one database. */
final class StoresThroughput {
    private static final int POOL = 16;

    private final BenchStores stores;
    private final StoresBench.Settings settings;
    private final Report report;

    /** What is measured, and what is aimed at, as a part of the first. */
    private record Way(String told, double aim, DueDrain drain) {}

    StoresThroughput(BenchStores stores, StoresBench.Settings settings, Report report) {
        this.stores = stores;
        this.settings = settings;
        this.report = report;
    }

    void run() throws Exception {
        stores.ensure(Collections.max(settings.stores()));
        report.say(
                "throughput: no-op messages that become due at one moment, until the last outcome is written, a second");
        List<Way> ways = ways();
        double[][] rates = rates(ways);
        double plain = Bench.median(rates[0]);
        for (int i = 0; i < ways.size(); i++) {
            double rate = Bench.median(rates[i]);
            Way way = ways.get(i);
            String aim =
                    way.aim > 0 ? "%.2f (aim %.2f)".formatted(rate / plain, way.aim) : "%.2f".formatted(rate / plain);
            report.say("  %-52s %,9.0f /s   %s", way.told, rate, i == 0 ? "" : aim);
        }
        report.say("");
    }

    private List<Way> ways() {
        int messages = settings.load().messages();
        List<Way> ways = new ArrayList<>();
        ways.add(new Way("a Windlass on one store, with a usual pool of " + POOL, 0, drain(List.of(messages))));
        for (int count : settings.stores()) {
            ways.add(new Way(
                    "a fleet of " + count + (count == 1 ? " store" : " stores"),
                    count > 10 ? 0.8 : 0.9,
                    drain(DueDrain.evenly(messages, count))));
        }
        int most = Collections.max(settings.stores());
        if (most > 1) {
            ways.add(new Way(
                    "a fleet of " + most + ", 90 % of the messages in one",
                    0,
                    drain(DueDrain.withFirst(messages, most, messages / 10 * 9))));
        }
        return ways;
    }

    private DueDrain drain(List<Integer> shares) {
        return new DueDrain(stores, settings.load().payloadBytes(), shares);
    }

    private double[][] rates(List<Way> ways) throws Exception {
        int rounds = settings.load().rounds();
        int warmUp = settings.warmUp();
        double[][] rates = new double[ways.size()][rounds];
        try (HikariDataSource pool = pool();
                SharedConnections connections = SharedConnections.atMost(settings.connections())) {
            for (int round = -warmUp; round < rounds; round++) {
                report.begin("  round %d of %d:", round + warmUp + 1, rounds + warmUp);
                for (int i = 0; i < ways.size(); i++) {
                    DueDrain drain = ways.get(i).drain;
                    double rate = i == 0
                            ? drain.rate(listener -> plain(pool, listener))
                            : drain.rate(listener -> fleet(connections, drain.stores(), listener));
                    rates[i][Math.max(0, round)] = rate;
                    report.begin(" %,9.0f", rate);
                }
                report.say(round < 0 ? "  to warm up" : "");
            }
        }
        return rates;
    }

    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(stores.source(1));
        config.setMaximumPoolSize(POOL);
        return new HikariDataSource(config);
    }

    private Windlass plain(HikariDataSource pool, WindlassListener listener) {
        return Windlass.on(pool)
                .options(BenchFleet.options().withSchemaName(stores.schema(1)))
                .outbox(settings.load().outbox())
                .listener(listener)
                .outboxHandler(Bench.TOPIC, message -> {})
                .start();
    }

    private AutoCloseable fleet(SharedConnections connections, int count, WindlassListener listener)
            throws InterruptedException {
        List<Store> all = stores.stores(count, connections);
        return BenchFleet.awaitRunning(BenchFleet.draining(all, settings.load(), listener), all);
    }
}
