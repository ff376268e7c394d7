package dev.windlass.cli.bench;

import dev.windlass.event.WindlassListener;
import dev.windlass.store.SharedConnections;
import dev.windlass.store.Store;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** Stores that are well, alone and beside one that does not answer and one that is down. */
final class Neighbours {
    private static final int HEALTHY = 8;

    /** A drain has to last for some seconds to meet what hangs. */
    private static final int TIMES = 5;

    private static final double AIM = 0.9;

    private final BenchStores stores;
    private final StoresBench.Settings settings;
    private final Report report;

    Neighbours(BenchStores stores, StoresBench.Settings settings, Report report) {
        this.stores = stores;
        this.settings = settings;
        this.report = report;
    }

    /** Nobody accepts at the socket: the system does, and nobody answers. */
    void run() throws Exception {
        stores.ensure(HEALTHY);
        int messages = settings.load().messages() * TIMES;
        report.say(
                "neighbours: %,d no-op messages over %d stores, alone, and beside one that does not answer and one that is down",
                messages, HEALTHY);
        try (ServerSocket silent = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
                SharedConnections connections = SharedConnections.atMost(settings.connections())) {
            List<Store> sick =
                    List.of(sick("hangs", silent.getLocalPort(), connections), sick("down", unusedPort(), connections));
            double[][] rates = rates(DueDrain.evenly(messages, HEALTHY), connections, sick);
            double alone = Bench.median(rates[0]);
            double beside = Bench.median(rates[1]);
            report.say("  alone    %,9.0f /s", alone);
            report.say("  beside   %,9.0f /s   %.2f (aim %.2f)", beside, beside / alone, AIM);
            report.say("");
        }
    }

    private double[][] rates(List<Integer> shares, SharedConnections connections, List<Store> sick) throws Exception {
        int rounds = settings.load().rounds();
        int warmUp = settings.warmUp();
        DueDrain alone = new DueDrain(stores, settings.load().payloadBytes(), shares);
        DueDrain beside = new DueDrain(stores, settings.load().payloadBytes(), shares);
        double[][] rates = new double[2][rounds];
        for (int round = -warmUp; round < rounds; round++) {
            int slot = Math.max(0, round);
            rates[0][slot] = alone.rate(listener -> fleet(connections, List.of(), listener));
            rates[1][slot] = beside.rate(listener -> fleet(connections, sick, listener));
            report.say(
                    "  round %d of %d: %,9.0f %,9.0f%s",
                    round + warmUp + 1,
                    rounds + warmUp,
                    rates[0][slot],
                    rates[1][slot],
                    round < 0 ? "  to warm up" : "");
        }
        return rates;
    }

    private AutoCloseable fleet(SharedConnections connections, List<Store> sick, WindlassListener listener)
            throws InterruptedException {
        List<Store> healthy = stores.stores(HEALTHY, connections);
        List<Store> all = new ArrayList<>(sick);
        all.addAll(healthy);
        return BenchFleet.awaitRunning(BenchFleet.draining(all, settings.load(), listener), healthy);
    }

    private static Store sick(String how, int port, SharedConnections connections) {
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/bench";
        return Store.of(BenchLogFilter.SICK + how, connections.to(new BenchServer(url, "nobody", "").fleet()));
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
