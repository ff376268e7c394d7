package dev.windlass.internal.health;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.SilentLogins;
import dev.windlass.TestDatabase;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.engine.PostgresDialect;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Workers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A loop that hangs is a reason to restart if the database answers others, and none if it answers nobody. */
final class LoopsCheckTest {
    private static final Duration HANGS = Duration.ofMillis(50);

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final Workers workers = new Workers();
    private final SilentLogins logins = new SilentLogins(
            database.unpooled(), () -> Thread.currentThread().getName().startsWith("windlass-loop"));
    private final Database asked = new Database(logins.source(), new PostgresDialect(), database.schema(), "silent");
    private final Loop loop = new Loop("claiming", workers, () -> {
        ask();
        return Loop.PARKED;
    });
    private final LoopsCheck check = new LoopsCheck(() -> List.of(loop), asked, HANGS);

    private boolean ask() throws SQLException {
        return asked.once(connection -> connection.isValid(5));
    }

    @BeforeEach
    void aLoopHangsInALogin() {
        logins.fallSilent();
        loop.start();
        eventually().until(() -> logins.hanging() == 1);
        eventually().until(() -> loop.state().stepFor().compareTo(HANGS) > 0);
    }

    @AfterEach
    void end() {
        logins.answerNewOnes().countDown();
        loop.stop(Duration.ofSeconds(10));
        workers.close();
    }

    @Test
    void aLoopThatHangsWhileNobodyHasAnAnswerWaitsForTheDatabase() {
        HealthFinding finding = check.check();

        assertThat(finding.status()).isEqualTo(HealthStatus.DEGRADED);
        assertThat(finding.description())
                .contains("a database that does not answer")
                .contains("claiming");
    }

    @Test
    void aLoopThatHangsWhileOthersHaveAnswersIsAReasonToRestart() {
        eventually().until(() -> ask() && check.check().status() == HealthStatus.UNHEALTHY);

        assertThat(check.check().description()).contains("answers others").contains("claiming");
    }

    @Test
    void anOutageThatOthersMeetIsTheReasonOfAllThatHang() {
        eventually().until(() -> ask() && check.check().status() == HealthStatus.UNHEALTHY);

        asked.note(new SQLException("gone", "08006"));

        assertThat(check.check().status()).isEqualTo(HealthStatus.DEGRADED);
    }

    @Test
    void aLoopThatGoesOnIsWell() {
        logins.answerNewOnes().countDown();

        eventually().until(() -> check.check().status() == HealthStatus.HEALTHY);
    }
}
