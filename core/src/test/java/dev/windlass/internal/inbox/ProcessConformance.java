package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.OnEveryEngine;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.RetryAfter;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxWork;
import dev.windlass.inbox.Processed;
import dev.windlass.inbox.Processed.Outcome;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The whole of it in one call: begin, work, mark, commit. */
@Timeout(60)
@OnEveryEngine
final class ProcessConformance extends InboxConformance {

    @BeforeEach
    void createLedger() {
        database().update("create table %s.ledger (line varchar(100))");
        database().grant("ledger");
    }

    @AfterEach
    void dropLedger() {
        database().update("drop table %s.ledger");
    }

    /** The business change: a line in a table of the program's own. */
    private void write(Connection connection, String line) throws SQLException {
        database().update(connection, "insert into %s.ledger (line) values (?)", line);
    }

    private long lines() {
        return database().value(Long.class, "select count(*) from %s.ledger");
    }

    @Test
    void theWorkHappensOnceHoweverOftenTheMessageArrives() throws Exception {
        assertThat(inbox.process(SOURCE, "1", connection -> write(connection, "a")))
                .isEqualTo(new Processed(Outcome.PROCESSED, false));
        assertThat(inbox.process(SOURCE, "1", connection -> write(connection, "b")))
                .isEqualTo(new Processed(Outcome.ALREADY_PROCESSED, false));
        assertThat(lines()).isEqualTo(1);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void theWorkHappensOnceWhenTheMessageArrivesManyTimesAtOnce() throws Exception {
        List<Outcome> outcomes = race(
                8,
                () -> inbox.process(SOURCE, "1", connection -> write(connection, "a"))
                        .outcome());
        assertThat(outcomes).containsOnlyOnce(Outcome.PROCESSED);
        assertThat(outcomes).doesNotContain(Outcome.DEAD);
        assertThat(lines()).isEqualTo(1);
    }

    @Test
    void workThatFailsIsRolledBackCountedAndReported() {
        assertThatThrownBy(() -> inbox.process(SOURCE, "1", connection -> {
                    write(connection, "a");
                    throw new IOException("no route to the warehouse");
                }))
                .isInstanceOf(IOException.class)
                .hasNoSuppressedExceptions();
        assertThat(lines()).isZero();
        assertThat(seen("1").retryCount()).isEqualTo(1);
        assertThat(seen("1").lastError()).contains("java.io.IOException: no route to the warehouse");
        assertThat(begun("1").number()).isEqualTo(2);
    }

    @Test
    void workThatFailsEveryTimeIsGivenUp() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        InboxWork failing = connection -> {
            throw new IllegalStateException("attempt " + attempts.incrementAndGet());
        };
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> inbox.process(SOURCE, "1", failing)).isInstanceOf(IllegalStateException.class);
        }
        assertThat(inbox.process(SOURCE, "1", failing).outcome()).isEqualTo(Outcome.DEAD);
        assertThat(attempts).hasValue(3);
        assertThat(seen("1").lastError()).contains("java.lang.IllegalStateException: attempt 3");
    }

    @Test
    void aPermanentFailureGivesTheMessageUpAtOnce() throws Exception {
        assertThatThrownBy(() -> inbox.process(SOURCE, "1", connection -> {
                    throw new PermanentFailure("no such customer");
                }))
                .isInstanceOf(PermanentFailure.class);
        assertThat(inbox.process(SOURCE, "1", connection -> write(connection, "a"))
                        .outcome())
                .isEqualTo(Outcome.DEAD);
        assertThat(lines()).isZero();
    }

    @Test
    void theWorkCanSayHowLongItsMessageRests() throws Exception {
        assertThatThrownBy(() -> inbox.process(SOURCE, "1", connection -> {
                    throw new RetryAfter(Duration.ofHours(1), "closed at night");
                }))
                .isInstanceOf(RetryAfter.class);
        assertThat(inbox.process(SOURCE, "1", connection -> write(connection, "a"))
                        .outcome())
                .isEqualTo(Outcome.IN_PROGRESS);
    }

    @Test
    void workWhoseAttemptIsTakenOverIsRolledBack() throws Exception {
        Inbox quick = inbox(SHORT);
        assertThatThrownBy(() -> inbox.process(SOURCE, "1", connection -> {
                    write(connection, "late");
                    runOutLease("1");
                    quick.process(SOURCE, "1", other -> write(other, "in time"));
                }))
                .isInstanceOf(AttemptLostException.class)
                .hasMessageContaining("expected attempt 1 of message 1 of source orders to be this caller's");
        assertThat(lines()).isEqualTo(1);
        assertThat(database().value(String.class, "select line from %s.ledger")).isEqualTo("in time");
        assertThat(seen("1").retryCount()).isZero();
        assertThat(seen("1").leaseExpiries()).isEqualTo(1);
    }

    @Test
    void workThatOverstaysItsLeaseIsCommittedIfNobodyElseCame() throws Exception {
        inbox.process(SOURCE, "1", connection -> {
            write(connection, "late");
            runOutLease("1");
        });
        assertThat(lines()).isEqualTo(1);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void workThatTakesLongerThanTheLeaseKeepsItsMessage() throws Exception {
        Inbox brief = inbox(OPTIONS.withGuardLease(Duration.ofSeconds(2)));
        brief.process(SOURCE, "1", connection -> {
            write(connection, "slow");
            Instant end = seen("1").leaseUntil().orElseThrow();
            eventually().until(() -> database().now().isAfter(end));
            assertThat(brief.begin(SOURCE, "1")).isInstanceOf(Begin.InProgress.class);
        });
        assertThat(lines()).isEqualTo(1);
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
        assertThat(seen("1").leaseExpiries()).isZero();
    }

    @Test
    void severalPiecesOfLongWorkKeepTheirMessages() throws Exception {
        Inbox brief = inbox(OPTIONS.withGuardLease(Duration.ofSeconds(2)));
        AtomicInteger next = new AtomicInteger();
        race(3, () -> {
            String id = "message " + next.incrementAndGet();
            return brief.process(SOURCE, id, connection -> {
                Instant end = seen(id).leaseUntil().orElseThrow();
                eventually().until(() -> database().now().isAfter(end));
                assertThat(brief.begin(SOURCE, id)).isInstanceOf(Begin.InProgress.class);
            });
        });
        assertThat(count("status = 2 and lease_expiries = 0")).isEqualTo(3);
    }

    /** A thread that hangs must not keep its message for ever. */
    @Test
    void workThatNeverEndsLosesItsMessageInTheEnd() throws Exception {
        Inbox bounded = inbox(OPTIONS.withGuardLease(Duration.ofMillis(900)).withRenewAtMost(Duration.ofMillis(500)));
        try (Logs logs = Logs.collect(Level.WARN)) {
            assertThatThrownBy(() -> bounded.process(SOURCE, "1", connection -> {
                        write(connection, "late");
                        eventually()
                                .until(() -> bounded.process(SOURCE, "1", other -> write(other, "in time"))
                                                .outcome()
                                        == Outcome.PROCESSED);
                    }))
                    .isInstanceOf(AttemptLostException.class);
            assertThat(logs.count(Level.WARN, "has not ended in 0.5 s; its lease is not renewed any more"))
                    .isEqualTo(1);
        }
        assertThat(database().value(String.class, "select line from %s.ledger")).isEqualTo("in time");
    }

    @Test
    void withoutRenewalsALeaseLastsAsLongAsItWasGiven() throws Exception {
        Inbox plain = inbox(OPTIONS.withGuardLease(Duration.ofMillis(300)).withRenewAtMost(Duration.ZERO));
        plain.process(SOURCE, "1", connection -> {
            Instant end = seen("1").leaseUntil().orElseThrow();
            eventually().until(() -> database().now().isAfter(end));
            assertThat(seen("1").leaseUntil()).contains(end);
        });
        assertThat(status("1")).isEqualTo(WorkStatus.DONE);
    }

    @Test
    void aStatementThatFailsInTheWorkIsCountedToo() {
        assertThatThrownBy(() -> inbox.process(SOURCE, "1", connection -> write(connection, "x".repeat(101))))
                .isInstanceOf(SQLException.class);
        assertThat(seen("1").retryCount()).isEqualTo(1);
    }

    @Test
    void differentContentIsReportedAndLogged() throws Exception {
        inbox.process(SOURCE, "1", ContentHash.of("secret a"), connection -> {});
        try (Logs logs = Logs.collect(Level.WARN)) {
            assertThat(inbox.process(SOURCE, "1", ContentHash.of("secret b"), connection -> {}))
                    .isEqualTo(new Processed(Outcome.ALREADY_PROCESSED, true));
            assertThat(logs.count(Level.WARN, "1 of source orders arrived again with other content"))
                    .isEqualTo(1);
        }
    }

    @Test
    void aMessageThatSomebodyWorksOnIsLeftAlone() throws Exception {
        begun("1");
        assertThat(inbox.process(SOURCE, "1", connection -> write(connection, "a"))
                        .outcome())
                .isEqualTo(Outcome.IN_PROGRESS);
        assertThat(lines()).isZero();
    }

    @Test
    void errorsOfTheJvmAreCountedLikeExceptions() {
        assertThatThrownBy(() -> inbox.process(SOURCE, "1", connection -> {
                    throw new StackOverflowError();
                }))
                .isInstanceOf(StackOverflowError.class);
        assertThat(seen("1").retryCount()).isEqualTo(1);
    }
}
