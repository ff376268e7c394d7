package dev.windlass;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthOptions;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.store.Store;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a program over several databases says of itself. */
final class FleetHealthTest {
    private static final int NOBODY_LISTENS = 1;

    @RegisterExtension
    static final TestStores databases = new TestStores("well", 3);

    private static FleetBuilder over(Store... stores) {
        return Fleet.over(List.of(stores))
                .health(HealthOptions.defaults().withCacheFor(Duration.ZERO))
                .each((store, windlass) -> windlass.outboxHandler("a", message -> {}));
    }

    /** Without a pool, which would wait for a connection a while. */
    private static Store away(int number) {
        return Store.of(databases.id(number), databases.source(databases.id(number), NOBODY_LISTENS));
    }

    private static HealthReport.Entry stores(HealthReport report) {
        return check(report, "stores");
    }

    private static HealthReport.Entry check(HealthReport report, String name) {
        return report.checks().stream()
                .filter(entry -> entry.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aFleetWhoseStoresWorkIsHealthyInEveryCheck() {
        try (Fleet fleet = over(databases.store(0), databases.store(1))
                .healthCheck("my disk", () -> HealthFinding.healthy("half full"))
                .start()) {
            eventually()
                    .untilAsserted(() -> assertThat(fleet.health().all().checks())
                            .allMatch(entry -> entry.status() == HealthStatus.HEALTHY));
            assertThat(fleet.health().all().checks())
                    .extracting(HealthReport.Entry::name)
                    .containsExactly(
                            "discovery",
                            "stores",
                            "loops",
                            "lease renewal",
                            "stuck work",
                            "backlog",
                            "overdue timers",
                            "throughput",
                            "my disk");
            assertThat(stores(fleet.health().ready()).description()).contains("all 2 stores");
        }
    }

    @Test
    void oneStoreThatIsAwayIsNamedAndTheOthersAreReady() {
        try (Fleet fleet = over(databases.store(0), databases.store(1), away(2)).start()) {
            eventually()
                    .untilAsserted(
                            () -> assertThat(stores(fleet.health().ready()).description())
                                    .startsWith("1 of 3 stores"));
            HealthReport ready = fleet.health().ready();
            assertThat(ready.status()).isEqualTo(HealthStatus.DEGRADED);
            assertThat(stores(ready).description()).endsWith(": " + databases.id(2));
            assertThat(fleet.health().live().status()).isEqualTo(HealthStatus.HEALTHY);
        }
    }

    @Test
    void aFleetWithoutAnyStoreThatAnswersIsAliveButNotReady() {
        try (Fleet fleet = over(away(0), away(1)).start()) {
            eventually().until(() -> fleet.health().ready().status() == HealthStatus.UNHEALTHY);
            assertThat(stores(fleet.health().ready()).description()).startsWith("2 of 2 stores");
            assertThat(fleet.health().live().status()).isEqualTo(HealthStatus.HEALTHY);
        }
    }

    /** Counted by the store, once a minute: so it is there before anybody counts. */
    @Test
    void aStoreWithABacklogIsNamedAndOneAloneMakesNoFleetUnhealthy() {
        String full = databases.id(0);
        FleetBuilder builder = Fleet.over(List.of(databases.store(0), databases.store(1)))
                .health(HealthOptions.defaults().withCacheFor(Duration.ZERO))
                .each((store, windlass) ->
                        windlass.health(HealthOptions.defaults().withBacklog(2, 3)));
        try (Fleet fleet = builder.start()) {
            fleet.at(full).outbox().enqueueAll(Collections.nCopies(5, OutboxEntry.of("nobody", "x")));
            assertThat(check(fleet.health().all(), "backlog").description()).contains("no store has been counted");
        }
        try (Fleet fleet = builder.listener(event -> {}).start()) {
            eventually()
                    .untilAsserted(() -> assertThat(
                                    check(fleet.health().all(), "backlog").description())
                            .isEqualTo("1 of 2 stores have too much that is due: " + full));
            assertThat(check(fleet.health().all(), "backlog").status()).isEqualTo(HealthStatus.DEGRADED);
            assertThat(check(fleet.health().all(), "stuck work").description()).startsWith("all 2 stores");
        }
    }

    @Test
    void aCheckOfTheProgramHasANameOfItsOwn() {
        FleetBuilder builder = over(databases.store(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.healthCheck("stores", () -> HealthFinding.healthy("")))
                .withMessageContaining("two with \"stores\"");
    }
}
