package dev.windlass.internal.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.AttemptLostException;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxAttempt;
import dev.windlass.inbox.InboxKey;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.inbox.InboxOperator;
import dev.windlass.inbox.InboxWorkItemIdentifier;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.operator.Attempts;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random steps of guards, queue, operators and open transactions, beside a model of each message: every answer is the one that
 * the model expects. One thread, so a seed repeats a run; give it as the system property {@code windlass.seed}.
 */
@Timeout(120)
@OnEveryEngine
final class InboxModelConformance extends InboxConformance {
    private static final int STEPS = 300;
    private static final List<String> IDS = List.of("a", "b", "c", "d");

    /** What is committed of a message, and who has it. */
    private static final class Message {
        final String id;

        @Nullable
        WorkStatus status;

        boolean queued;
        boolean expired;
        boolean redelivered;
        int used;

        @Nullable
        InboxAttempt attempt;

        @Nullable
        OwnerToken owner;

        @Nullable
        InboxWorkItemIdentifier item;

        final List<InboxAttempt> lost = new ArrayList<>();

        Message(String id) {
            this.id = id;
        }

        boolean is(WorkStatus wanted, boolean inQueue) {
            return status == wanted && queued == inQueue;
        }

        void ended(WorkStatus end) {
            status = end;
            expired = false;
        }
    }

    /** What the open transaction is about to do to one message, if it commits. */
    private @Nullable Message touched;

    private Runnable commit = () -> {};
    private @Nullable Connection open;
    private final Map<String, Message> messages = new TreeMap<>();
    private final List<String> steps = new ArrayList<>();
    private Random random = new Random();
    private Inbox quick;

    @BeforeEach
    void startForTakeOvers() {
        quick = inbox(OPTIONS.withGuardLease(Duration.ofMillis(1)));
    }

    static LongStream seeds() {
        Long given = Long.getLong("windlass.seed");
        return given != null ? LongStream.of(given) : new Random().longs(8);
    }

    @AfterEach
    void closeTransaction() throws SQLException {
        if (open != null) {
            open.rollback();
            open.close();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyAnswerIsTheOneThatTheModelExpects(long seed) throws SQLException {
        random = new Random(seed);
        steps.add("seed " + seed);
        open = transaction();
        IDS.forEach(id -> messages.put(id, new Message(id)));
        for (int i = 0; i < STEPS; i++) {
            step();
            if (i % 20 == 0) {
                compare();
            }
        }
        compare();
    }

    private void step() throws SQLException {
        switch (random.nextInt(24)) {
            case 0, 1, 2, 3, 4 -> begin(any(message -> true));
            case 5 -> attempted("mark done", message -> end(message, WorkStatus.DONE));
            case 6 -> attempted("mark dead", message -> end(message, WorkStatus.FAILED));
            case 7, 8 -> attempted("abandon", this::abandon);
            case 9, 10, 11 -> runOut(any(message -> message.status == WorkStatus.IN_PROGRESS && message != touched));
            case 12, 13 -> enqueue(any(message -> message != touched || message.status != null));
            case 14, 15 -> claim();
            case 16 -> claimed("ack", message -> ack(message));
            case 17 -> claimed("fail", message -> fail(message));
            case 18 -> claimed("release", message -> release(message));
            case 19 -> reap();
            case 20 -> late(any(message -> !message.lost.isEmpty() && message != touched));
            case 21 -> operate();
            case 22 -> open();
            default -> close(random.nextInt(3) > 0);
        }
    }

    private @Nullable Message any(Predicate<Message> condition) {
        List<Message> fitting = messages.values().stream().filter(condition).toList();
        return fitting.isEmpty() ? null : fitting.get(random.nextInt(fitting.size()));
    }

    private void say(String what, Message message) {
        steps.add(what + " " + message.id);
    }

    private void begin(@Nullable Message message) {
        if (message == null) {
            return;
        }
        boolean takeOver = message.is(WorkStatus.IN_PROGRESS, false) && message.expired && message != touched;
        Begin begin = (takeOver ? quick : inbox).begin(SOURCE, message.id);
        steps.add("begin " + message.id + ": " + begin.getClass().getSimpleName());
        Class<? extends Begin> expected = expected(message, takeOver);
        assertThat(begin).as("%s", steps).isInstanceOf(expected);
        if (takeOver) {
            message.used++;
            message.lost.add(attempt(message));
        }
        if (begin instanceof Begin.Proceed proceed) {
            assertThat(proceed.attempt().number()).as("%s", steps).isEqualTo(message.used + 1);
            message.ended(WorkStatus.IN_PROGRESS);
            message.queued = false;
            message.attempt = proceed.attempt();
            renew(message);
        } else if (begin instanceof Begin.Dead) {
            message.ended(WorkStatus.FAILED);
        }
    }

    private Class<? extends Begin> expected(Message message, boolean takeOver) {
        if (message.status == WorkStatus.DONE) {
            return Begin.Done.class;
        } else if (message.status == WorkStatus.FAILED) {
            return Begin.Dead.class;
        } else if (takeOver) {
            return message.used + 1 >= OPTIONS.maxAttempts() ? Begin.Dead.class : Begin.Proceed.class;
        } else if (message == touched || message.status == WorkStatus.IN_PROGRESS || message.queued) {
            return Begin.InProgress.class;
        }
        return Begin.Proceed.class;
    }

    /** What a lease of a millisecond would do by itself is left to the steps. */
    private void renew(Message message) {
        database()
                .update(
                        "update %s.inbox_seen set locked_until = ? where status = 1 and message_id = ?",
                        database().now().plus(Duration.ofHours(1)), message.id);
    }

    @FunctionalInterface
    private interface Verb {
        void on(Message message) throws SQLException;
    }

    private void attempted(String what, Verb verb) throws SQLException {
        Message message = any(each -> each.is(WorkStatus.IN_PROGRESS, false) && each != touched);
        if (message != null) {
            say(what, message);
            verb.on(message);
        }
    }

    private InboxAttempt attempt(Message message) {
        return Objects.requireNonNull(message.attempt);
    }

    private void end(Message message, WorkStatus end) {
        if (end == WorkStatus.DONE) {
            inbox.markProcessed(attempt(message));
        } else {
            inbox.markDead(attempt(message), "no");
        }
        message.ended(end);
    }

    private void abandon(Message message) {
        boolean left = inbox.abandon(attempt(message), "again", Duration.ZERO);
        message.used++;
        assertThat(left).as("%s", steps).isEqualTo(message.used < OPTIONS.maxAttempts());
        message.ended(left ? WorkStatus.READY : WorkStatus.FAILED);
        message.lost.add(attempt(message));
    }

    private void runOut(@Nullable Message message) {
        if (message != null) {
            say("run out", message);
            runOutLease(message.id);
            message.expired = true;
        }
    }

    /** Who has lost an attempt changes nothing with it. */
    private void late(@Nullable Message message) {
        if (message != null) {
            say("late mark", message);
            InboxAttempt lost = message.lost.get(random.nextInt(message.lost.size()));
            assertThatThrownBy(() -> inbox.markProcessed(lost))
                    .as("%s", steps)
                    .isInstanceOf(AttemptLostException.class);
        }
    }

    private boolean isFree(Message message) {
        return message.status == null
                || message.is(WorkStatus.READY, false)
                || (message.is(WorkStatus.IN_PROGRESS, false) && message.expired);
    }

    private void enqueue(@Nullable Message message) {
        if (message != null) {
            say("enqueue", message);
            boolean taken = isFree(message) && message != touched;
            assertThat(inbox.enqueue(entry(message.id)).isNew()).as("%s", steps).isEqualTo(taken);
            if (taken) {
                queued(message);
            } else if (!message.queued && message.status != WorkStatus.DONE && message.status != WorkStatus.FAILED) {
                message.redelivered = true;
            }
        }
    }

    private void queued(Message message) {
        if (message.status == WorkStatus.IN_PROGRESS) {
            message.used++;
            message.lost.add(attempt(message));
        }
        message.ended(WorkStatus.READY);
        message.queued = true;
    }

    private void claim() {
        OwnerToken owner = OwnerToken.fresh();
        List<InboxMessage> claimed = inbox.claim(owner, LEASE, 100);
        Set<String> ids =
                claimed.stream().map(each -> each.key().messageId()).collect(Collectors.toCollection(TreeSet::new));
        steps.add("claim " + ids);
        Set<String> expected = messages.values().stream()
                .filter(each -> each.is(WorkStatus.READY, true))
                .map(each -> each.id)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(ids).as("%s", steps).isEqualTo(expected);
        for (InboxMessage each : claimed) {
            Message message = Objects.requireNonNull(messages.get(each.key().messageId()));
            assertThat(each.retryCount() + each.leaseExpiries()).as("%s", steps).isEqualTo(message.used);
            message.ended(WorkStatus.IN_PROGRESS);
            message.owner = owner;
            message.item = each.id();
        }
    }

    private void claimed(String what, Verb verb) throws SQLException {
        Message message = any(each -> each.is(WorkStatus.IN_PROGRESS, true) && each != touched);
        if (message != null) {
            say(what, message);
            verb.on(message);
        }
    }

    private OwnerToken owner(Message message) {
        return Objects.requireNonNull(message.owner);
    }

    private List<InboxWorkItemIdentifier> item(Message message) {
        return List.of(Objects.requireNonNull(message.item));
    }

    private void ack(Message message) {
        assertThat(inbox.ack(OwnerToken.fresh(), item(message))).isZero();
        assertThat(inbox.ack(owner(message), item(message))).as("%s", steps).isEqualTo(1);
        message.ended(WorkStatus.DONE);
    }

    private void fail(Message message) {
        assertThat(inbox.fail(owner(message), item(message), "no"))
                .as("%s", steps)
                .isEqualTo(1);
        message.ended(WorkStatus.FAILED);
    }

    private void release(Message message) {
        boolean counted = random.nextBoolean();
        int changed = counted
                ? inbox.abandon(owner(message), item(message), Duration.ZERO, "again")
                : inbox.release(owner(message), item(message));
        assertThat(changed).as("%s", steps).isEqualTo(1);
        message.used += counted ? 1 : 0;
        message.ended(WorkStatus.READY);
    }

    private void reap() {
        List<Message> expected = messages.values().stream()
                .filter(each -> each.is(WorkStatus.IN_PROGRESS, true) && each.expired && each != touched)
                .toList();
        List<Message> adopted = messages.values().stream()
                .filter(each -> each.redelivered && isFree(each) && each != touched)
                .toList();
        steps.add("reap " + expected.size() + " and adopt " + adopted.size());
        assertThat(quick.reapExpired()).as("%s", steps).isEqualTo(expected.size() + adopted.size());
        expected.forEach(message -> {
            message.used++;
            message.ended(WorkStatus.READY);
        });
        adopted.forEach(this::queued);
        messages.values().stream()
                .filter(each -> each.queued || each.status == WorkStatus.DONE || each.status == WorkStatus.FAILED)
                .forEach(each -> each.redelivered = false);
    }

    private void operate() {
        Message message = any(each -> each.status == WorkStatus.FAILED);
        if (message != null && message != touched) {
            InboxOperator operator = inbox.operator("anna");
            List<InboxKey> key = List.of(new InboxKey(SOURCE, message.id));
            if (random.nextBoolean()) {
                say("requeue", message);
                assertThat(operator.requeue(key, Attempts.RESET))
                        .as("%s", steps)
                        .isEqualTo(1);
                message.ended(WorkStatus.READY);
                message.used = 0;
            } else {
                say("purge", message);
                assertThat(operator.purge(key)).as("%s", steps).isEqualTo(1);
                messages.put(message.id, new Message(message.id));
            }
        }
    }

    /** Something in a transaction that stays open over some steps: what others see is what was committed before. */
    private void open() {
        Connection connection = open;
        Message message = any(each -> isFree(each) || each.status == WorkStatus.IN_PROGRESS);
        if (connection == null || touched != null || message == null) {
            return;
        }
        if (isFree(message) && random.nextBoolean()) {
            say("enqueue and stay open", message);
            assertThat(inbox.enqueue(connection, entry(message.id)).isNew())
                    .as("%s", steps)
                    .isTrue();
            commit = () -> queued(message);
        } else if (message.is(WorkStatus.IN_PROGRESS, true)) {
            say("ack and stay open", message);
            assertThat(inbox.ack(connection, owner(message), item(message)))
                    .as("%s", steps)
                    .isEqualTo(1);
            commit = () -> message.ended(WorkStatus.DONE);
        } else if (message.is(WorkStatus.IN_PROGRESS, false)) {
            say("mark and stay open", message);
            inbox.markProcessed(connection, attempt(message));
            commit = () -> message.ended(WorkStatus.DONE);
        } else {
            return;
        }
        touched = message;
    }

    private void close(boolean commits) throws SQLException {
        if (open != null && touched != null) {
            say(commits ? "commit" : "roll back", touched);
            if (commits) {
                open.commit();
                commit.run();
            } else {
                open.rollback();
            }
            touched = null;
        }
    }

    private void compare() {
        for (Message message : messages.values()) {
            assertThat(inbox.find(SOURCE, message.id).map(SeenMessage::status).orElse(null))
                    .as("%s of %s", steps, message.id)
                    .isEqualTo(message.status);
            inbox.find(SOURCE, message.id).ifPresent(seen -> {
                assertThat(seen.topic().isPresent()).as("%s", steps).isEqualTo(message.queued);
                assertThat(seen.retryCount() + seen.leaseExpiries())
                        .as("%s", steps)
                        .isEqualTo(message.used);
            });
        }
    }
}
