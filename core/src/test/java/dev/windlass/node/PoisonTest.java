package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class PoisonTest {
    private static final long LEASE = 700;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    @Shows("OBX-064")
    void aMessageThatKillsItsProcessFailsInTheEndAndItsNeighboursAreHandled() throws Exception {
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 60)
                        .mapToObj(n -> OutboxEntry.of("a", n == 20 ? "halt" : "x"))
                        .toList());
        int deaths = 0;
        while (database.count("status in (0, 1)") > 0) {
            try (Child child = Child.start(ChildNode.class, database, Long.toString(LEASE))) {
                eventually().until(() -> !child.isAlive() || database.count("status in (0, 1)") == 0);
                deaths += child.isAlive() ? 0 : 1;
            }
        }
        assertThat(deaths)
                .as("the first is not held against it, the next three are")
                .isEqualTo(4);
        assertThat(database.count("status = 2 and payload = 'x'")).isEqualTo(59);
        assertThat(database.count("status = 3 and payload = 'halt' and lease_expiries = 4 and retry_count = 0"))
                .isEqualTo(1);
    }

    @Test
    @Shows({"OBX-100", "OBX-101"})
    void othersTakeOverFromAProcessThatIsKilled() throws Exception {
        database.passive()
                .outbox()
                .enqueueAll(IntStream.range(0, 40)
                        .mapToObj(n -> OutboxEntry.of("a", n % 5 == 0 ? "hang" : "x"))
                        .toList());
        try (Child child = Child.start(ChildNode.class, database, Long.toString(LEASE))) {
            eventually()
                    .until(() ->
                            child.lines().stream().filter("hanging"::equals).count() == 4);
            child.kill();
        }
        assertThat(database.count("status = 1")).isPositive();
        database.start(database.windlass().outbox(database.shortLease()).outboxHandler("a", message -> {}));
        eventually().until(() -> database.count("status = 2") == 40);
        assertThat(database.count("lease_expiries = 1 and payload = 'hang'")).isGreaterThanOrEqualTo(4);
        assertThat(database.count("retry_count > 0")).isZero();
    }

    @Test
    void aProcessThatEndsInOrderGivesBackWhatItCannotFinish() throws Exception {
        Windlass writer = database.passive();
        writer.outbox().enqueue(OutboxEntry.of("a", "hang"));
        try (Child child = Child.start(ChildNode.class, database, Long.toString(60_000))) {
            eventually().until(() -> child.said("hanging"));
            assertThat(child.end()).isZero();
            assertThat(child.lines()).endsWith("closed");
        }
        assertThat(database.count("status = 0 and retry_count = 0 and lease_expiries = 0"))
                .isEqualTo(1);
    }
}
