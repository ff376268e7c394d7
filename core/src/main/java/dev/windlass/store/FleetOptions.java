package dev.windlass.store;

import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * What many stores share.
 *
 * @param concurrency how many handlers run at once, over all stores; half of the places are for stores that have none
 * @param inHand how many messages are claimed and not completed, over all stores; a store that has none gets a few beyond that
 * @param claimsAtOnce how many claims are under way; one that takes long does not count
 * @param keptConnections how many stores keep a connection, for heartbeats and notifications: those that have had work most
 *     recently. The others borrow one for each call, and look for work by polling
 * @param refreshEvery how often a {@link DatabaseDiscovery} is asked
 * @param parallelism how many stores are opened, migrated or closed at once
 * @param selection which store is claimed from next
 */
public record FleetOptions(
        int concurrency,
        int inHand,
        int claimsAtOnce,
        int keptConnections,
        Duration refreshEvery,
        int parallelism,
        StoreSelection selection) {

    public FleetOptions {
        Require.positive("concurrency", concurrency);
        Require.positive("number of messages in hand", inHand);
        Require.positive("number of claims at once", claimsAtOnce);
        Require.notNegative("number of kept connections", keptConnections);
        Require.positive("refresh interval", refreshEvery);
        Require.positive("parallelism", parallelism);
        Require.present("selection", selection);
    }

    public static FleetOptions defaults() {
        return new FleetOptions(64, 5_000, 8, 16, Duration.ofMinutes(5), 8, StoreSelection.roundRobin());
    }

    public FleetOptions withConcurrency(int concurrency) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }

    public FleetOptions withInHand(int inHand) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }

    public FleetOptions withClaimsAtOnce(int claimsAtOnce) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }

    public FleetOptions withKeptConnections(int keptConnections) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }

    public FleetOptions withRefreshEvery(Duration refreshEvery) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }

    public FleetOptions withParallelism(int parallelism) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }

    public FleetOptions withSelection(StoreSelection selection) {
        return new FleetOptions(
                concurrency, inHand, claimsAtOnce, keptConnections, refreshEvery, parallelism, selection);
    }
}
