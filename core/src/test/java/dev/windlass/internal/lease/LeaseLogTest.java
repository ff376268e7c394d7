package dev.windlass.internal.lease;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.lease.Lease;
import dev.windlass.lease.LeaseRequest;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What leases write into logs. */
@Timeout(60)
final class LeaseLogTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    /** A trigger of the user's own stands for any error whose text quotes the row. */
    @Test
    void noLogQuotesWhatTheServerSaysOfARow() throws SQLException {
        database.execute("create function %s.refuse() returns trigger language plpgsql"
                + " as $$ begin raise exception 'refused: %', new; end $$");
        database.execute("create trigger refuse before update on %s.lease for each row execute function %s.refuse()");
        try (Logs logs = Logs.collect(Level.DEBUG)) {
            Lease lease = database.passive()
                    .leases()
                    .tryAcquire(LeaseRequest.of("a", Duration.ofSeconds(2)).withOwner("somebody special"))
                    .orElseThrow();
            eventually().until(() -> logs.count(Level.DEBUG, "could not renew leases, 2 times") == 1);
            assertThat(lease.tryRenewNow()).isFalse();
            lease.close();

            assertThat(logs.count(Level.WARN, "could not renew 1 leases")).isEqualTo(1);
            assertThat(logs.count(Level.DEBUG, "could not be renewed (SQLSTATE P0001)"))
                    .isEqualTo(1);
            assertThat(logs.count(Level.DEBUG, "could not be released (SQLSTATE P0001)"))
                    .isPositive();
            assertThat(logs.lines()).noneMatch(line -> line.text().contains("somebody special"));
        } finally {
            database.execute("drop function %s.refuse() cascade");
        }
    }
}
