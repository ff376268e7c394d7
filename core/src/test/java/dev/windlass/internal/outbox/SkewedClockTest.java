package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.Shows;
import dev.windlass.SkewedClock;
import dev.windlass.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node in a process of its own, whose wall clock is an hour off. */
@Timeout(120)
final class SkewedClockTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @TempDir
    Path directory;

    private Instant before;

    @BeforeEach
    void begin() {
        before = now();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT1H", "PT-1H"})
    @Shows({"OBX-015", "OBX-020", "OBX-028"})
    void whatIsStoredIsOfTheDatabasesClockHoweverWrongTheNodesIs(Duration skew) throws Exception {
        assertThat(runChild(skew)).as("the clock of the child").isBetween(before.plus(skew), now().plus(skew));
        assertThat(timeOfId("handled"))
                .as("what Windlass reads of it")
                .isBetween(before.plus(skew).minusMillis(1), now().plus(skew));

        for (String payload : List.of("claimed", "renewed", "abandoned", "acked", "delayed", "handled")) {
            assertStored("created_at", payload, Duration.ZERO);
        }
        assertStored("locked_until", "claimed", Duration.ofMinutes(5));
        assertStored("locked_until", "renewed", Duration.ofMinutes(10));
        assertStored("next_attempt_at", "abandoned", Duration.ofMinutes(20));
        assertStored("due_at", "delayed", Duration.ofDays(1));
        assertStored("next_attempt_at", "delayed", Duration.ofDays(1));
        assertStored("ended_at", "acked", Duration.ZERO);
        assertStored("ended_at", "handled", Duration.ZERO);
    }

    /** Returns what the child's clock said. */
    private Instant runChild(Duration skew) throws Exception {
        List<String> java = List.of(Child.java(), SkewedClock.option(directory, skew));
        try (Child child = Child.start(java, SkewedNode.class, database)) {
            eventually().until(() -> !child.isAlive());
            child.awaitOutput();
            assertThat(child.lines()).contains("done");
            return child.lines().stream()
                    .filter(line -> line.startsWith("clock "))
                    .map(line -> Instant.parse(line.substring("clock ".length())))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private void assertStored(String column, String payload, Duration later) {
        OffsetDateTime stored =
                database.value(OffsetDateTime.class, "select " + column + " from %s.outbox where payload = ?", payload);
        assertThat(stored.toInstant()).as("%s of %s", column, payload).isBetween(before.plus(later), now().plus(later));
    }

    private static Instant timeOfId(String payload) {
        UUID id = database.value(UUID.class, "select id from %s.outbox where payload = ?", payload);
        return Instant.ofEpochMilli(id.getMostSignificantBits() >>> 16);
    }

    private static Instant now() {
        return database.value(OffsetDateTime.class, "select clock_timestamp()").toInstant();
    }
}
