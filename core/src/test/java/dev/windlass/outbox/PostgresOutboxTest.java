package dev.windlass.outbox;

import dev.windlass.EngineDatabase;
import dev.windlass.PostgresDatabase;
import dev.windlass.TestDatabase;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conformance suite on PostgreSQL. */
final class PostgresOutboxTest {

    @Nested
    final class Enqueue extends EnqueueConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class HeldRows extends HeldRowsConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class CallersTransaction extends CallersTransactionConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Claim extends ClaimConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Ack extends AckConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class AckAndTake extends AckAndTakeConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Abandon extends AbandonConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Fail extends FailConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Heartbeat extends HeartbeatConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Reap extends ReapConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Retention extends RetentionConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Find extends FindConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class JoinCount extends JoinCountConformance {
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

    @Nested
    final class HostileText extends HostileTextConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Race extends RaceConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Ordering extends OrderingConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class OrderingLock extends OrderingLockConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Deduplication extends DeduplicationConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class OrderingRace extends OrderingRaceConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Listing extends ListConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class DeadLetters extends DeadLettersConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Requeue extends RequeueConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Purge extends PurgeConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class FailureHistory extends FailureHistoryConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Cancel extends CancelConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Reschedule extends RescheduleConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Erase extends EraseConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class Pause extends PauseConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class BadOperations extends BadOperationsConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }

    @Nested
    final class OrderingModel extends OrderingModelConformance {
        @RegisterExtension
        static final TestDatabase postgres = new TestDatabase();

        @Override
        EngineDatabase database() {
            return new PostgresDatabase(postgres);
        }
    }
}
