package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class PositionTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void theOrderIsThatOfTheDatabase() throws SQLException {
        List<Position> positions = positions();
        List<Position> ordered = new ArrayList<>();
        try (Connection connection = database.owner().getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "select at, id" + " from unnest(?::timestamptz[], ?::uuid[]) as p (at, id) order by at, id")) {
            statement.setArray(1, connection.createArrayOf("text", each(positions, p -> p.at().toString())));
            statement.setArray(2, connection.createArrayOf("uuid", each(positions, Position::id)));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    ordered.add(new Position(
                            rows.getObject(1, OffsetDateTime.class).toInstant(), rows.getObject(2, UUID.class)));
                }
            }
        }
        Collections.sort(positions);
        assertThat(positions).isEqualTo(ordered);
        assertThat(Position.START).isLessThan(positions.get(0));
    }

    private static List<Position> positions() {
        Random random = new Random(1);
        List<Position> positions = new ArrayList<>();
        Instant start =
                OffsetDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC).toInstant();
        for (int i = 0; i < 500; i++) {
            long high = i % 3 == 0 ? 0 : random.nextLong();
            positions.add(
                    new Position(start.plus(random.nextInt(50), ChronoUnit.MICROS), new UUID(high, random.nextLong())));
        }
        positions.add(new Position(Instant.parse("0001-01-01T00:00:00Z"), new UUID(0, 0)));
        positions.add(new Position(Instant.parse("9999-12-31T00:00:00Z"), new UUID(-1, -1)));
        return positions;
    }

    private static <T> Object[] each(List<Position> positions, java.util.function.Function<Position, T> property) {
        return positions.stream().map(property).toArray();
    }
}
