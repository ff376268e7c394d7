package dev.windlass.schedule;

import dev.windlass.EngineDatabase;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conformance suite of jobs on PostgreSQL. */
final class PostgresJobsTest {

    @Nested
    final class SaveJob extends SaveJobConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class JobNode extends JobNodeConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class RunOutcome extends RunOutcomeConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class DeleteJob extends DeleteJobConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class RunClaim extends RunClaimConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class JobSets extends JobSetConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class ScheduleMaintenance extends ScheduleMaintenanceConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class BadJobArguments extends BadJobArgumentsConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class JobRace extends JobRaceConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class JobModel extends JobModelConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }
}
