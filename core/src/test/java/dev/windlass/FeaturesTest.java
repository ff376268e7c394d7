package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.base.Feature;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Job;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Features that are used alone, in a schema that has no tables of the others. */
final class FeaturesTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String ALONE = "alone";

    private static WindlassBuilder alone(Feature first, Feature... more) {
        return Windlass.on(database.owner())
                .options(WindlassOptions.defaults().withSchemaName(ALONE).withShutdownGrace(Duration.ofSeconds(2)))
                .only(first, more);
    }

    private static List<String> tables() {
        return List.of(database.value(
                        String.class,
                        "select string_agg(tablename, ' ' order by tablename) from pg_tables where schemaname = '"
                                + ALONE + "' and tablename not like 'windlass%'")
                .split(" "));
    }

    @AfterEach
    void drop() throws SQLException {
        database.execute("drop schema if exists " + ALONE + " cascade");
    }

    @Test
    void leasesNeedNoOtherTables() {
        try (Windlass windlass = alone(Feature.LEASES).ensureSchema().start()) {
            assertThat(windlass.leases().tryAcquire("a", Duration.ofMinutes(1))).isPresent();
            assertThat(tables()).containsExactly("lease", "lease_semaphore");
        }
    }

    @Test
    void anOutboxAloneIsClaimedFailedRequeuedAndHandled() {
        try (Windlass windlass = alone(Feature.OUTBOX)
                .ensureSchema()
                .options(WindlassOptions.defaults().withSchemaName(ALONE).withBackgroundWorkers(false))
                .start()) {
            windlass.outbox().enqueue(OutboxEntry.of("topic", "payload"));
            OwnerToken owner = OwnerToken.fresh();
            OutboxMessage message =
                    windlass.outbox().claim(owner, Duration.ofMinutes(1), 1).get(0);
            windlass.outbox().fail(owner, List.of(message.id()), "no");

            assertThat(windlass.outbox().operator("anna").requeue(MessageFilter.failed(), Attempts.RESET))
                    .isEqualTo(1);
            OwnerToken again = OwnerToken.fresh();
            windlass.outbox().claim(again, Duration.ofMinutes(1), 1);
            assertThat(windlass.outbox().ack(again, List.of(message.id()))).isEqualTo(1);
            assertThat(tables()).doesNotContain("outbox_timer", "outbox_job", "inbox", "lease");
        }
    }

    @Test
    void anInboxNeedsNoOutbox() {
        try (Windlass windlass = alone(Feature.INBOX).ensureSchema().start()) {
            assertThat(windlass.inbox()
                            .enqueue(InboxEntry.of("source", "id", "topic", "payload"))
                            .isNew())
                    .isTrue();
            assertThat(tables()).doesNotContain("outbox", "lease");
        }
    }

    @Test
    void aFeatureThatWasLeftOutSaysSo() {
        try (Windlass windlass = alone(Feature.LEASES).ensureSchema().start()) {
            assertThatThrownBy(windlass::outbox)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(
                            "expected one of the features [LEASES], got OUTBOX; add it to WindlassBuilder.only");
            assertThatThrownBy(windlass::timers).hasMessageContaining("got SCHEDULE");
        }
    }

    @Test
    void handlersAndJobsOfAFeatureThatWasLeftOutAreRefused() {
        assertThatThrownBy(() ->
                        alone(Feature.INBOX).outboxHandler("a", message -> {}).start())
                .hasMessageContaining("got some of OUTBOX");
        assertThatThrownBy(() -> alone(Feature.OUTBOX)
                        .job(Job.every("a", Duration.ofHours(1)), message -> {})
                        .start())
                .hasMessageContaining("got some of SCHEDULE");
    }

    @Test
    void timersAndJobsCannotBeWithoutAnOutbox() {
        assertThatThrownBy(() -> alone(Feature.SCHEDULE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected the outbox with timers and jobs");
    }
}
