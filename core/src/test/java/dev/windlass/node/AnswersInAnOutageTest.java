package dev.windlass.node;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.TestDatabase;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.event.Events;
import dev.windlass.trace.Tracing;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

@Timeout(60)
final class AnswersInAnOutageTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Queue<WindlassEvent> heard = new ConcurrentLinkedQueue<>();
    private final Events events = new Events() {
        @Override
        public boolean areHeard() {
            return true;
        }

        @Override
        public void tell(WindlassEvent event) {
            heard.add(event);
        }
    };

    private static boolean asks(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.execute(sql);
        }
    }

    private static boolean is(WindlassEvent event) {
        return event instanceof WindlassEvent.OutageEnded;
    }

    /** Connections are refused from now on, and a call that began before has its answer. */
    @Test
    void theLastAnswersOfConnectionsThatWereThereBeforeAreNoEndOfAnOutage() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Link link = new Link(database.server().port());
                Connection other = database.unpooled().getConnection()) {
            PGSimpleDataSource source = (PGSimpleDataSource) database.unpooled();
            source.setPortNumbers(new int[] {link.port()});
            Database asked = new Database(source, new PostgresDialect(), "any", "shop", events, Tracing.NONE, null);
            asks(other, "select pg_advisory_lock(4711)");
            Future<Boolean> last =
                    thread.submit(() -> asked.once(connection -> asks(connection, "select pg_advisory_lock(4711)")));
            eventually()
                    .until(() -> database.value(
                                    Long.class, "select count(*) from pg_locks where objid = 4711 and not granted")
                            == 1);
            link.refuse(true);
            assertThatThrownBy(() -> asked.once(connection -> asks(connection, "select 1")))
                    .isInstanceOf(SQLException.class);

            asks(other, "select pg_advisory_unlock(4711)");
            assertThat(last.get()).isTrue();

            assertThat(heard).hasSize(1).allMatch(WindlassEvent.OutageBegan.class::isInstance);
            link.refuse(false);
            eventually()
                    .until(() -> asked.once(connection -> asks(connection, "select 1"))
                            && heard.stream().anyMatch(AnswersInAnOutageTest::is));
            assertThat(heard).hasSize(2);
        } finally {
            thread.shutdownNow();
        }
    }
}
