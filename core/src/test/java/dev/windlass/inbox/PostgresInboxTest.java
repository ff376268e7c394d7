package dev.windlass.inbox;

import dev.windlass.EngineDatabase;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conformance suite on PostgreSQL. */
final class PostgresInboxTest {

    @Nested
    final class Beginning extends BeginConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Marks extends MarkConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class AlreadyProcessed extends AlreadyProcessedConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Processing extends ProcessConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Enqueueing extends EnqueueConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Redeliveries extends RedeliveryConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Queueing extends QueueConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Operators extends OperatorConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class InboxModel extends InboxModelConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class BadArguments extends BadArgumentsConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }
}
