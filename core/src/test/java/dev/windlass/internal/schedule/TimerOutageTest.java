package dev.windlass.internal.schedule;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a server of its own, with fsync, that is killed and started again, as are processes that hand timers off. */
final class TimerOutageTest {
    private static final int TOTAL = 1500;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase(
            EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withFsync(true)));

    private static List<TimerIdentifier> schedule(Duration over) {
        return database.passive()
                .timers()
                .scheduleAll(IntStream.range(0, TOTAL)
                        .mapToObj(
                                n -> TimerEntry.of("a", "", over.multipliedBy(n).dividedBy(TOTAL)))
                        .toList());
    }

    private static long messages() {
        return database.count("true");
    }

    private static void eachIsOneMessage(List<TimerIdentifier> ids) {
        eventually()
                .ignoreExceptions()
                .until(() -> database.value(Long.class, "select count(*) from %s.outbox_timer") == 0);
        assertThat(messages()).isEqualTo(TOTAL);
        UUID[] expected = ids.stream().map(TimerIdentifier::value).toArray(UUID[]::new);
        assertThat(database.value(Long.class, "select count(*) from %s.outbox where id = any (?)", (Object) expected))
                .isEqualTo(TOTAL);
    }

    @Test
    void aKilledDatabaseNeitherLosesNorDoublesATimer() throws Exception {
        List<TimerIdentifier> ids = schedule(Duration.ofSeconds(3));
        for (int n = 0; n < 2; n++) {
            database.start(
                    database.windlass().schedule(ScheduleOptions.defaults().withBatchSize(3)));
        }
        eventually().until(() -> messages() > TOTAL / 5);
        database.server().kill();
        database.server().restart();
        eventually().ignoreExceptions().until(() -> messages() > TOTAL / 2);
        database.server().kill();
        database.server().restart();

        eachIsOneMessage(ids);
    }

    @Test
    void killedProcessesNeitherLoseNorDoubleATimer() throws Exception {
        List<Child> children = new ArrayList<>();
        try {
            for (int n = 0; n < 3; n++) {
                children.add(Child.start(TimerNode.class, database));
            }
            for (Child child : children) {
                eventually().until(() -> child.said("started true"));
            }
            List<TimerIdentifier> ids = schedule(Duration.ofSeconds(2));
            eventually().until(() -> messages() > TOTAL / 4);
            children.get(0).kill();
            eventually().until(() -> messages() > TOTAL / 2);
            children.get(1).kill();

            eachIsOneMessage(ids);
        } finally {
            children.forEach(Child::close);
        }
    }

    /** What it would have slept for is over, and so is the connection that would have woken it. */
    @Test
    void aNodeThatSleptThroughAnOutageFiresWhatBecameDueMeanwhile() throws Exception {
        Windlass node = database.start(database.windlass());
        node.timers().schedule(TimerEntry.of("a", "", Duration.ofMillis(500)));
        database.server().kill();
        database.server().restart();
        eventually().ignoreExceptions().until(() -> messages() == 1);
    }
}
