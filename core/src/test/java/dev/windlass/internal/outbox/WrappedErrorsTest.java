package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.outbox.OutboxEntry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A data source whose statements throw errors of the database as causes of unchecked exceptions, as those of some libraries do. */
final class WrappedErrorsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String SECRET = "s3cr3t";

    @AfterEach
    void refuseNone() throws SQLException {
        database.closeAll();
        database.execute("alter table %s.outbox drop constraint if exists mine");
    }

    private static <T> T wrapping(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(target, arguments);
                        if (result instanceof PreparedStatement statement) {
                            return wrapping(PreparedStatement.class, statement);
                        }
                        return result instanceof Connection connection && type == DataSource.class
                                ? wrapping(Connection.class, connection)
                                : result;
                    } catch (InvocationTargetException e) {
                        throw new IllegalStateException(e.getCause());
                    }
                }));
    }

    @Test
    void theyQuoteNoRowAndAreTreatedAsWhatTheyAre() throws Exception {
        database.passive().outbox().enqueue(OutboxEntry.of("a", SECRET));
        database.passive().outbox().enqueue(OutboxEntry.of("a", "x"));
        database.execute("alter table %s.outbox add constraint mine check (payload <> '" + SECRET + "') not valid");
        try (Logs logs = Logs.collect(Level.TRACE)) {
            Windlass windlass = database.start(Windlass.on(wrapping(DataSource.class, database.dataSource()))
                    .options(database.options())
                    .outboxHandler("a", message -> {}));
            eventually().until(() -> database.count("status = 2 and payload = 'x'") == 1);

            Throwable thrown = catchThrowable(() -> windlass.outbox().enqueue(OutboxEntry.of("a", SECRET)));
            assertThat(thrown).isInstanceOf(WindlassException.class).hasMessageContaining("23514");
            assertThat(thrown).hasStackTraceContaining("mine");
            assertThat(thrown.toString() + thrown.getCause()).doesNotContain(SECRET);
            assertThat(logs.lines()).noneMatch(line -> line.text().contains(SECRET));
        }
    }
}
