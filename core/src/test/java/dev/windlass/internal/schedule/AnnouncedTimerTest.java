package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.internal.schema.Channel;
import dev.windlass.schedule.TimerEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Which timers other nodes are told of. */
final class AnnouncedTimerTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final TimerEntry SOON = TimerEntry.of("topic", "soon", Duration.ofSeconds(30));

    @Test
    void aNodeThatHasStoppedLeavesItsTimersToOthers() throws SQLException {
        Windlass node = database.start(database.windlass());
        try (Connection connection = database.unpooled().getConnection();
                Statement listen = connection.createStatement()) {
            listen.execute("listen \"" + Channel.of(database.schema(), "outbox_timer") + "\"");
            node.timers().schedule(SOON);
            listen.execute("select");
            assertThat(heard(connection)).isEmpty();
            node.close();
            node.timers().schedule(SOON);
            listen.execute("select");
            assertThat(heard(connection)).hasSize(1);
        }
    }

    /** A node also says something to itself when it starts, to learn whether it hears. */
    private static Stream<String> heard(Connection connection) throws SQLException {
        PGNotification[] heard = connection.unwrap(PGConnection.class).getNotifications();
        return Stream.of(heard).map(PGNotification::getParameter).filter("ready"::equals);
    }
}
