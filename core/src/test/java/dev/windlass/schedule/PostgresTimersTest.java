package dev.windlass.schedule;

import dev.windlass.EngineDatabase;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conformance suite on PostgreSQL. */
final class PostgresTimersTest {

    @Nested
    final class Schedule extends ScheduleTimerConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Claim extends TimerClaimConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class BadArguments extends BadTimerArgumentsConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Nodes extends TimerNodeConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }
}
