package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.HandlerOptions;
import dev.windlass.base.Overtime;
import dev.windlass.base.QueueOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What holds where nobody says otherwise, as the specification's table has it (7.1), and as it was decided where that is silent. A
 * changed default changes every program that is upgraded.
 */
final class DefaultsTest {

    @Test
    @Shows({"OBX-116", "OBX-117"})
    void ofTheOutbox() {
        assertThat(OutboxOptions.defaults())
                .isEqualTo(new OutboxOptions(
                        "outbox",
                        new QueueOptions(
                                Duration.ofMillis(250),
                                50,
                                Duration.ofSeconds(30),
                                16,
                                Duration.ofDays(7),
                                5,
                                HandlerOptions.defaults()),
                        FailedHead.BLOCKS,
                        Map.of()));
    }

    @Test
    @Shows("OBX-109")
    void ofTheWholeProgram() {
        String node = "node-1";
        assertThat(WindlassOptions.defaults().withNodeName(node))
                .isEqualTo(new WindlassOptions(
                        "windlass",
                        false,
                        true,
                        Duration.ofSeconds(30),
                        true,
                        Duration.ofSeconds(30),
                        node,
                        false,
                        false,
                        false,
                        new RetryPolicy(4, Duration.ofMillis(60), Duration.ofMillis(300), 0.4)));
    }

    @Test
    @Shows({"OBX-062", "OBX-065"})
    void ofHandlers() {
        assertThat(HandlerOptions.defaults())
                .isEqualTo(new HandlerOptions(
                        16,
                        Duration.ofMinutes(10),
                        Overtime.GIVE_UP,
                        new RetryPolicy(10, Duration.ofSeconds(1), Duration.ofMinutes(1), 0.2),
                        null));
    }

    @Test
    void ofTheInbox() {
        assertThat(InboxOptions.defaults())
                .isEqualTo(new InboxOptions(
                        "inbox",
                        new QueueOptions(
                                Duration.ofMillis(250),
                                20,
                                Duration.ofSeconds(30),
                                16,
                                Duration.ofDays(30),
                                5,
                                HandlerOptions.defaults()),
                        Duration.ofMinutes(5),
                        Duration.ofHours(1),
                        Duration.ofSeconds(30),
                        5));
    }

    @Test
    void ofLeases() {
        assertThat(LeaseOptions.defaults()).isEqualTo(new LeaseOptions("lease", 0.6, Duration.ofDays(7)));
    }

    @Test
    void ofTimersAndJobs() {
        assertThat(ScheduleOptions.defaults())
                .isEqualTo(new ScheduleOptions(true, 1000, Duration.ofSeconds(30), Duration.ofDays(90)));
    }
}
