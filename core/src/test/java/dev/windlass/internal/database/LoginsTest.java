package dev.windlass.internal.database;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.SilentLogins;
import dev.windlass.TestDatabase;
import dev.windlass.internal.engine.PostgresDialect;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A data source that does not answer does not hold those who must go on. */
final class LoginsTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final SilentLogins logins = new SilentLogins(database.unpooled());
    private final Database patient = new Database(logins.source(), new PostgresDialect(), database.schema(), "silent");
    private final Database impatient = patient.givingUpLogins(Duration.ofMillis(50));

    private static boolean ask(Database database) throws SQLException {
        return database.once(connection -> connection.isValid(5));
    }

    @Test
    void aLoginThatHangsIsGivenUpAndTheDatabaseCountsAsAway() {
        logins.fallSilent();

        assertThatThrownBy(() -> ask(impatient)).hasMessageContaining("has not answered a login");

        assertThat(patient.isAway()).isTrue();
        logins.answerNewOnes().countDown();
    }

    @Test
    void nobodyLogsInBesideOneThatHangsUntilItHasEnded() throws Exception {
        logins.fallSilent();
        assertThatThrownBy(() -> ask(impatient)).hasMessageContaining("has not answered a login");
        CountDownLatch hanging = logins.answerNewOnes();
        assertThatThrownBy(() -> ask(impatient)).hasMessageContaining("the next is tried later");
        assertThat(logins.hanging()).isEqualTo(1);

        hanging.countDown();

        eventually()
                .until(() -> logins.late().size() == 1 && logins.late().get(0).isClosed());
        eventually().ignoreExceptionsInstanceOf(SQLException.class).until(() -> ask(impatient));
        assertThat(patient.isAway()).isFalse();
    }
}
