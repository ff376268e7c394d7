package dev.windlass.lease;

import dev.windlass.EngineDatabase;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conformance suite on PostgreSQL. */
final class PostgresLeaseTest {

    @Nested
    final class Acquire extends AcquireConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Renewal extends RenewalConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Clock extends ClockConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Wait extends WaitConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Semaphore extends SemaphoreConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class LateCommit extends LateCommitConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class LockedRow extends LockedRowConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Leader extends LeaderConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class LeaseRace extends LeaseRaceConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class LeaseModel extends LeaseModelConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class BadLeaseArguments extends BadLeaseArgumentsConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Run extends RunConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }
}
