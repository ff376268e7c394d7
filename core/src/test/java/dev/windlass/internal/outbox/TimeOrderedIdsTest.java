package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The one place that reads the wall clock of this machine, with clocks that are wrong. */
final class TimeOrderedIdsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final long NOW = 1_800_000_000_000L;

    @Test
    void idsAreOfVersionSevenAndBearTheTime() {
        UUID id = new TimeOrderedIds(() -> NOW).next();

        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(id.getMostSignificantBits() >>> 16).isEqualTo(NOW);
    }

    @Test
    void idsGrowWhateverTheClockDoes() {
        Random random = new Random(1);
        LongSupplier jumping = () -> NOW + random.nextLong(-20_000_000, 20_000_000);
        for (LongSupplier clock : List.<LongSupplier>of(() -> NOW, () -> 0, () -> -NOW, jumping)) {
            TimeOrderedIds ids = new TimeOrderedIds(clock);
            List<UUID> made = Stream.generate(ids::next).limit(20_000).toList();

            assertThat(made).doesNotHaveDuplicates().extracting(UUID::toString).isSorted();
            assertThat(made).allSatisfy(id -> assertThat(id.version()).isEqualTo(7));
        }
    }

    @Test
    void idsOfManyThreadsAreAllDifferent() {
        TimeOrderedIds ids = new TimeOrderedIds(() -> NOW);
        Set<UUID> made = new HashSet<>(Stream.generate(() -> 0)
                .limit(50_000)
                .parallel()
                .map(i -> ids.next())
                .toList());

        assertThat(made).hasSize(50_000);
    }

    @Test
    void idsOfTwoProcessesInTheSameMillisecondAreDifferent() {
        assertThat(new TimeOrderedIds(() -> NOW).next()).isNotEqualTo(new TimeOrderedIds(() -> NOW).next());
    }

    @ParameterizedTest
    @ValueSource(longs = {-10, 10})
    void aMachineWhoseClockIsWrongByHoursWritesMessagesThatAreClaimedAtOnce(long hours) throws SQLException {
        long offset = Duration.ofHours(hours).toMillis();
        TimeOrderedIds ids = new TimeOrderedIds(() -> System.currentTimeMillis() + offset);
        Database routines = new Database(database.dataSource(), new PostgresDialect(), database.schema(), "test");
        OutboxStore store = new OutboxStore(routines, OutboxOptions.defaults(), "node", () -> true);
        Outbox outbox = database.passive().outbox();
        OutboxMessageIdentifier before = outbox.enqueue(OutboxEntry.of("topic", "right clock"));
        UUID wrong = ids.next();
        routines.once(connection -> {
            store.enqueue(connection, wrong, OutboxEntry.of("topic", "wrong clock"), false);
            return true;
        });
        OutboxMessageIdentifier after = outbox.enqueue(OutboxEntry.of("topic", "right clock"));

        OwnerToken owner = OwnerToken.fresh();
        Duration lease = Duration.ofMinutes(1);
        assertThat(Stream.of(1, 2, 3)
                        .flatMap(i -> outbox.claim(owner, lease, 1).stream())
                        .map(OutboxMessage::messageId))
                .containsExactly(before, new OutboxMessageIdentifier(wrong), after);
        assertThat(outbox.ack(owner, List.of(new OutboxWorkItemIdentifier(wrong))))
                .isEqualTo(1);
    }
}
