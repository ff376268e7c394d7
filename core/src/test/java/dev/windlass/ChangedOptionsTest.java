package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.WindlassOptions;
import dev.windlass.health.HealthOptions;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.store.FleetOptions;
import dev.windlass.store.Store;
import dev.windlass.work.WorkOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Who goes on with a builder that somebody else began changes what is there, instead of replacing all of it. */
final class ChangedOptionsTest {
    private static final Duration SOON = Duration.ofSeconds(7);

    private final WindlassBuilder builder = Windlass.on(new PGSimpleDataSource());

    @Test
    void whatWasSaidBeforeStays() {
        builder.options(WindlassOptions.defaults().withSchemaName("shop"))
                .outbox(OutboxOptions.defaults().withTableName("o"))
                .inbox(InboxOptions.defaults().withTableName("i"))
                .work(WorkOptions.defaults().withTableName("w"))
                .leases(LeaseOptions.defaults().withTableName("l"))
                .schedule(ScheduleOptions.defaults().withBatchSize(3))
                .health(HealthOptions.defaults().withCacheFor(SOON));

        builder.options(its -> its.withWakeUp(false))
                .outbox(its -> its.withBatchSize(4))
                .inbox(its -> its.withBatchSize(5))
                .work(its -> its.withBatchSize(6))
                .leases(its -> its.withRenewAt(0.5))
                .schedule(its -> its.withHandOff(false))
                .health(its -> its.withTimeout(SOON));

        assertThat(builder.options)
                .isEqualTo(WindlassOptions.defaults().withSchemaName("shop").withWakeUp(false));
        assertThat(builder.outbox)
                .isEqualTo(OutboxOptions.defaults().withTableName("o").withBatchSize(4));
        assertThat(builder.inbox)
                .isEqualTo(InboxOptions.defaults().withTableName("i").withBatchSize(5));
        assertThat(builder.work)
                .isEqualTo(WorkOptions.defaults().withTableName("w").withBatchSize(6));
        assertThat(builder.leases)
                .isEqualTo(LeaseOptions.defaults().withTableName("l").withRenewAt(0.5));
        assertThat(builder.schedule)
                .isEqualTo(ScheduleOptions.defaults().withBatchSize(3).withHandOff(false));
        assertThat(builder.health)
                .isEqualTo(HealthOptions.defaults().withCacheFor(SOON).withTimeout(SOON));
    }

    @Test
    void soItIsWithAFleet() {
        FleetBuilder fleet = Fleet.over(List.of(Store.of("north", new PGSimpleDataSource())))
                .options(FleetOptions.defaults().withInHand(70))
                .health(HealthOptions.defaults().withCacheFor(SOON))
                .options(its -> its.withParallelism(3))
                .health(its -> its.withTimeout(SOON));

        assertThat(fleet.options.inHand()).isEqualTo(70);
        assertThat(fleet.options.parallelism()).isEqualTo(3);
        assertThat(fleet.health)
                .isEqualTo(HealthOptions.defaults().withCacheFor(SOON).withTimeout(SOON));
    }

    @Test
    @SuppressWarnings("NullAway") // what a careless program may give
    void aChangeToNothingIsRefused() {
        assertThatThrownBy(() -> builder.options(its -> null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected a set of options, got null");
    }
}
