package dev.windlass.store;

import dev.windlass.internal.database.HangingLogins;
import java.time.Duration;
import javax.sql.DataSource;

/** What a pool knows of one data source. Guarded by the pool. */
final class Origin {
    static final Duration LONGEST_LOGIN = Duration.ofSeconds(10);

    final DataSource source;
    final HangingLogins logins = new HangingLogins();
    /** How many of its connections somebody uses, or waits for. */
    int lent;

    Origin(DataSource source) {
        this.source = source;
    }

    /** Whether there is nothing to be remembered. */
    boolean isQuiet() {
        return lent == 0 && logins.isNone();
    }
}
