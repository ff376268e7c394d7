package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs that claim by themselves, and whose claim is committed without an answer: they have nothing but their token. */
final class LostProgramClaimTest {
    @RegisterExtension
    static final TestDatabase postgres = new TestDatabase();

    private static final Duration LONG = Duration.ofHours(1);

    private final OwnerToken owner = OwnerToken.fresh();
    private LosingDataSource losing;
    private Windlass windlass;

    @BeforeEach
    void startAnUnluckyProgram() {
        losing = new LosingDataSource(postgres);
        windlass = postgres.start(Windlass.on(losing)
                .options(postgres.options().withBackgroundWorkers(false))
                .schedule(ScheduleOptions.defaults().withHandOff(false)));
    }

    private void loses(Supplier<Collection<?>> claim) {
        losing.loseAnswers(1);
        assertThatThrownBy(claim::get).isInstanceOf(WindlassException.class);
        assertThat(losing.left()).isZero();
    }

    @Test
    void messagesOfTheOutboxAreReleasedByTheirToken() {
        windlass.outbox().enqueue(OutboxEntry.of("a", "x"));
        windlass.outbox().enqueue(OutboxEntry.of("a", "y"));
        loses(() -> windlass.outbox().claim(owner, LONG, 10));

        assertThat(windlass.outbox().release(OwnerToken.fresh())).isZero();
        assertThat(windlass.outbox().release(owner)).isEqualTo(2);
        assertThat(windlass.outbox().claim(OwnerToken.fresh(), LONG, 10)).hasSize(2);
    }

    @Test
    void messagesOfTheInboxAreReleasedByTheirToken() {
        windlass.inbox().enqueue(InboxEntry.of("source", "1", "a", "x"));
        loses(() -> windlass.inbox().claim(owner, LONG, 10));

        assertThat(windlass.inbox().release(owner)).isEqualTo(1);
        assertThat(windlass.inbox().claim(OwnerToken.fresh(), LONG, 10)).hasSize(1);
    }

    @Test
    void timersAreReleasedByTheirToken() {
        windlass.timers().schedule(TimerEntry.of("a", "x", Duration.ZERO));
        loses(() -> windlass.timers().claim(owner, LONG, 10));

        assertThat(windlass.timers().release(owner)).isEqualTo(1);
        assertThat(windlass.timers().claim(OwnerToken.fresh(), LONG, 10)).hasSize(1);
    }

    @Test
    void runsAreReleasedByTheirToken() {
        windlass.jobs().save(Job.cron("job", "0 0 1 1 *", ZoneOffset.UTC).withTopic("a"));
        windlass.jobs().trigger("job");
        loses(() -> windlass.jobs().runClaims().claim(owner, LONG, 10));

        assertThat(windlass.jobs().runClaims().release(owner)).isEqualTo(1);
        assertThat(windlass.jobs().runClaims().claim(OwnerToken.fresh(), LONG, 10))
                .hasSize(1);
    }
}
