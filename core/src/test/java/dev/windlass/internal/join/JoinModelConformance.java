package dev.windlass.internal.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random steps on joins and their messages, by several owners, beside a model of both: after each step every join is as the model has
 * it. One thread, so a seed repeats a run; give it as the system property {@code windlass.seed}.
 */
@Timeout(120)
@OnEveryEngine
final class JoinModelConformance extends JoinsConformance {
    private static final int STEPS = 300;

    /** To compare reads all there is, and takes longer than a step. */
    private static final int COMPARE_EVERY = 4;

    private static final List<OwnerToken> OWNERS = List.of(OwnerToken.fresh(), OwnerToken.fresh(), OwnerToken.fresh());

    private enum State {
        READY,
        CLAIMED,
        DONE,
        FAILED,
        CANCELLED
    }

    private static final class Message {
        final UUID id;
        State state = State.READY;

        @Nullable
        OwnerToken owner;

        boolean joined;
        boolean gone;
        boolean noted;

        Message(UUID id, boolean joined) {
            this.id = id;
            this.joined = joined;
        }

        OutboxMessageIdentifier identifier() {
            return new OutboxMessageIdentifier(id);
        }

        JoinStatus end() {
            return switch (state) {
                case READY, CLAIMED -> JoinStatus.PENDING;
                case DONE -> JoinStatus.COMPLETED;
                case FAILED, CANCELLED -> JoinStatus.FAILED;
            };
        }
    }

    private static final class Waiting {
        final JoinIdentifier id;
        final int expected;
        final boolean failedByAny;
        final Map<UUID, JoinStatus> steps = new LinkedHashMap<>();
        JoinStatus status = JoinStatus.PENDING;

        @Nullable
        FollowUp followUp;

        @Nullable
        UUID followUpId;

        @Nullable
        Waiting outer;

        Waiting(JoinIdentifier id, int expected, boolean failedByAny) {
            this.id = id;
            this.expected = expected;
            this.failedByAny = failedByAny;
        }

        boolean isPending() {
            return status == JoinStatus.PENDING;
        }

        boolean hasRoom() {
            return isPending() && steps.size() < expected;
        }

        long counted(JoinStatus end) {
            return steps.values().stream().filter(step -> step == end).count();
        }
    }

    private final List<Message> messages = new ArrayList<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private final List<String> followed = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private Random random = new Random();
    private boolean kept;

    static LongStream seeds() {
        Long given = Long.getLong("windlass.seed");
        return given != null ? LongStream.of(given) : new Random().longs(4);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyJoinCountsWhatTheModelCounts(long seed) {
        random = new Random(seed);
        kept = random.nextBoolean();
        said.add("seed " + seed + (kept ? "" : ", messages are deleted when they are done"));
        if (!kept) {
            keepNothing();
        }
        for (int i = 0; i < STEPS; i++) {
            go();
            if (i % COMPARE_EVERY == 0) {
                compare();
            }
        }
        finish();
        compare();
        assertThat(waiting).as("%s", said).anyMatch(join -> join.status == JoinStatus.COMPLETED);
    }

    private void go() {
        switch (random.nextInt(24)) {
            case 0, 1, 2 -> start();
            case 3, 4, 5 -> write();
            case 6, 7, 8 -> attach();
            case 9, 10, 11 -> claim();
            case 12, 13, 14 -> ack();
            case 15 -> fail();
            case 16 -> abandon();
            case 17 -> requeue();
            case 18 -> purge();
            case 19 -> cancelMessage();
            case 20, 21 -> report();
            case 22 -> follow();
            default -> {
                if (random.nextInt(3) == 0) {
                    cancelJoin();
                }
            }
        }
    }

    private void start() {
        boolean failedByAny = random.nextInt(3) > 0;
        int expected = 1 + random.nextInt(3);
        Waiting join =
                new Waiting(joins.start(JoinEntry.of(expected).withFailedByAny(failedByAny)), expected, failedByAny);
        waiting.add(join);
        say("start of " + expected, join);
        if (random.nextBoolean()) {
            follow(join);
        }
    }

    private void follow() {
        Waiting join = any(waiting, each -> each.followUp == null && each.status != JoinStatus.CANCELLED);
        if (join != null) {
            follow(join);
        }
    }

    private void follow(Waiting join) {
        int kind = random.nextInt(5);
        Waiting outer = kind < 3 ? any(waiting, each -> each.hasRoom() && !isWithin(each, join)) : null;
        FollowUp followUp;
        if (outer == null) {
            followUp = kind == 3
                    ? FollowUp.completed("done", "")
                    : FollowUp.completed("done", "").withFailed("undone", "");
        } else if (kind == 0) {
            followUp = FollowUp.stepOf(outer.id);
        } else {
            followUp = FollowUp.failed("undone", "").withStepOf(outer.id);
        }
        say("follow " + followUp, join);
        joins.follow(join.id, followUp);
        join.followUp = followUp;
        join.followUpId = stored(join.id).followUpId().orElseThrow();
        join.outer = outer;
        if (outer != null) {
            outer.steps.put(join.followUpId, JoinStatus.PENDING);
        }
        if (!join.isPending()) {
            followed(join);
        }
    }

    /** Whether one is the other, or waits for its end through whatever is between. */
    private static boolean isWithin(Waiting one, Waiting other) {
        for (Waiting each = one; each != null; each = each.outer) {
            if (each == other) {
                return true;
            }
        }
        return false;
    }

    private void write() {
        Waiting join = random.nextBoolean() ? any(waiting, each -> true) : null;
        if (join == null) {
            messages.add(new Message(step().value(), false));
            say("write", null);
        } else if (join.hasRoom()) {
            Message message = new Message(stepOf(join.id).value(), true);
            messages.add(message);
            join.steps.put(message.id, JoinStatus.PENDING);
            say("write " + name(message.id), join);
        } else {
            say("write in vain", join);
            assertThatThrownBy(() -> stepOf(join.id)).isInstanceOf(WindlassException.class);
        }
    }

    private void attach() {
        Waiting join = any(waiting, each -> each.isPending() || random.nextInt(4) == 0);
        Message message = any(messages, each -> true);
        if (join == null || message == null) {
            return;
        }
        boolean member = join.steps.containsKey(message.id);
        if (member || (join.hasRoom() && (!message.gone || message.noted))) {
            say("attach " + name(message.id), join);
            assertThat(outbox.attach(join.id, List.of(message.identifier(), message.identifier())))
                    .as("%s", said)
                    .isEqualTo(member ? 0 : 1);
            if (!member) {
                join.steps.put(message.id, JoinStatus.PENDING);
                message.joined |= message.state != State.DONE;
                if (message.end() != JoinStatus.PENDING) {
                    count(join, message.id, message.end());
                }
            }
        } else {
            say("attach in vain " + name(message.id), join);
            assertThatThrownBy(() -> outbox.attach(join.id, List.of(message.identifier())))
                    .as("%s", said)
                    .isInstanceOf(WindlassException.class);
        }
    }

    private void claim() {
        OwnerToken owner = OWNERS.get(random.nextInt(OWNERS.size()));
        for (OutboxMessage claimed : outbox.claim(owner, LEASE, 1 + random.nextInt(4))) {
            Message message = messages.stream()
                    .filter(each -> each.id.equals(claimed.id().value()))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(said));
            assertThat(message.state).as("%s", said).isEqualTo(State.READY);
            message.state = State.CLAIMED;
            message.owner = owner;
            say("claim " + name(message.id), null);
        }
    }

    /** Of some that the owner holds, and of some that it does not or not any more. */
    private void ack() {
        OwnerToken owner = OWNERS.get(random.nextInt(OWNERS.size()));
        List<Message> some = some();
        say("ack by " + OWNERS.indexOf(owner) + " of " + names(some), null);
        outbox.ack(owner, workItems(some));
        List<Message> ended = heldBy(owner, some);
        ended.forEach(each -> end(each, State.DONE));
        if (!kept) {
            ended.forEach(this::gone);
        }
    }

    private void fail() {
        OwnerToken owner = OWNERS.get(random.nextInt(OWNERS.size()));
        List<Message> some = some();
        say("fail by " + OWNERS.indexOf(owner) + " of " + names(some), null);
        outbox.fail(owner, workItems(some), "no");
        heldBy(owner, some).forEach(each -> end(each, State.FAILED));
    }

    private void abandon() {
        Message message = any(messages, each -> each.state == State.CLAIMED);
        if (message != null && message.owner != null) {
            say("abandon " + name(message.id), null);
            outbox.abandon(message.owner, workItems(List.of(message)), Duration.ZERO, "again");
            message.state = State.READY;
        }
    }

    private void requeue() {
        Message message = any(messages, each -> each.state == State.FAILED && !each.gone);
        if (message != null) {
            say("requeue " + name(message.id), null);
            outbox.operator("anna").requeue(List.of(message.identifier()), Attempts.RESET);
            message.state = State.READY;
            if (message.joined) {
                waiting.stream()
                        .filter(Waiting::isPending)
                        .forEach(join -> join.steps.replace(message.id, JoinStatus.FAILED, JoinStatus.PENDING));
            }
        }
    }

    private void purge() {
        Message message = any(messages, each -> each.state == State.FAILED && !each.gone);
        if (message != null) {
            say("purge " + name(message.id), null);
            outbox.operator("anna").purge(List.of(message.identifier()));
            gone(message);
        }
    }

    private void cancelMessage() {
        Message message = any(messages, each -> each.state == State.READY);
        if (message != null) {
            say("cancel " + name(message.id), null);
            assertThat(outbox.cancel(message.identifier())).as("%s", said).isTrue();
            end(message, State.CANCELLED);
        }
    }

    private void report() {
        Waiting join = any(waiting, each -> true);
        if (join == null) {
            return;
        }
        List<UUID> known = new ArrayList<>(join.steps.keySet());
        UUID step =
                known.isEmpty() || random.nextBoolean() ? UUID.randomUUID() : known.get(random.nextInt(known.size()));
        JoinStatus end = random.nextInt(3) == 0 ? JoinStatus.FAILED : JoinStatus.COMPLETED;
        say("report " + name(step) + " " + end, join);
        if (!known.contains(step) && !join.hasRoom()) {
            assertThatThrownBy(() -> report(join, step, end)).as("%s", said).isInstanceOf(WindlassException.class);
            return;
        }
        boolean counted = report(join, step, end);
        join.steps.putIfAbsent(step, JoinStatus.PENDING);
        count(join, step, end);
        assertThat(counted).as("%s", said).isEqualTo(join.steps.get(step) == end);
    }

    private boolean report(Waiting join, UUID step, JoinStatus end) {
        return end == JoinStatus.COMPLETED ? joins.reportCompleted(join.id, step) : joins.reportFailed(join.id, step);
    }

    private void cancelJoin() {
        Waiting join = any(waiting, each -> true);
        if (join == null) {
            return;
        }
        say("cancel", join);
        boolean ended = join.status == JoinStatus.COMPLETED || join.status == JoinStatus.FAILED;
        assertThat(joins.cancel(join.id)).as("%s", said).isEqualTo(!ended);
        if (join.isPending()) {
            join.status = JoinStatus.CANCELLED;
            if (join.outer != null && join.followUpId != null) {
                count(join.outer, join.followUpId, JoinStatus.FAILED);
            }
        }
    }

    private void end(Message message, State state) {
        message.state = state;
        if (message.joined) {
            waiting.forEach(join -> count(join, message.id, message.end()));
        }
    }

    private void count(Waiting join, UUID step, JoinStatus end) {
        if (!join.isPending() || join.steps.get(step) != JoinStatus.PENDING) {
            return;
        }
        join.steps.put(step, end);
        long failed = join.counted(JoinStatus.FAILED);
        if (join.counted(JoinStatus.COMPLETED) + failed == join.expected) {
            join.status = failed > 0 && join.failedByAny ? JoinStatus.FAILED : JoinStatus.COMPLETED;
            if (join.followUp != null) {
                followed(join);
            }
        }
    }

    private void followed(Waiting join) {
        FollowUp followUp = join.followUp;
        UUID id = join.followUpId;
        if (followUp == null || id == null) {
            return;
        }
        FollowUp.Message message = join.status == JoinStatus.COMPLETED ? followUp.completed() : followUp.failed();
        if (message != null) {
            messages.add(new Message(id, join.outer != null));
            followed.add(id + " " + message.topic());
        } else if (join.outer != null) {
            count(join.outer, id, join.status);
        }
    }

    private void gone(Message message) {
        message.gone = true;
        message.noted = waiting.stream().anyMatch(Waiting::isPending);
    }

    /** All messages end. What follows them ends, too. */
    private void finish() {
        while (messages.stream().anyMatch(each -> each.end() == JoinStatus.PENDING)) {
            claim();
            ack();
        }
    }

    private void compare() {
        List<String> expected = new ArrayList<>();
        List<String> members = new ArrayList<>();
        for (Waiting join : waiting) {
            expected.add(join.id + " " + join.status.code() + " " + join.steps.size() + " "
                    + join.counted(JoinStatus.COMPLETED) + " " + join.counted(JoinStatus.FAILED));
            join.steps.forEach((step, status) -> members.add(join.id + " " + step + " " + status.code()));
        }
        assertThat(database().rows("select id, status, members, completed_steps, failed_steps from %s.windlass_join"))
                .as("%s", said)
                .containsExactlyInAnyOrderElementsOf(expected);
        assertThat(database().rows("select join_id, message_id, status from %s.windlass_join_member"))
                .as("%s", said)
                .containsExactlyInAnyOrderElementsOf(members);
        assertThat(database().rows("select id, topic from %s.outbox where topic in ('done', 'undone')"))
                .as("%s", said)
                .containsExactlyInAnyOrderElementsOf(followed.stream()
                        .filter(each -> messages.stream()
                                .noneMatch(message -> message.gone && each.startsWith(message.id.toString())))
                        .toList());
    }

    private List<Message> some() {
        List<Message> some = new ArrayList<>();
        for (int i = random.nextInt(6); i >= 0; i--) {
            Message message = any(messages, each -> random.nextBoolean() || each.state == State.CLAIMED);
            if (message != null && !some.contains(message)) {
                some.add(message);
            }
        }
        return some;
    }

    private static List<Message> heldBy(OwnerToken owner, Collection<Message> some) {
        return some.stream()
                .filter(each -> each.state == State.CLAIMED && owner.equals(each.owner))
                .toList();
    }

    private static List<OutboxWorkItemIdentifier> workItems(List<Message> some) {
        return items(some.stream().map(Message::identifier).toList());
    }

    private <T> @Nullable T any(List<T> all, Predicate<T> condition) {
        List<T> fitting = all.stream().filter(condition).toList();
        return fitting.isEmpty() ? null : fitting.get(random.nextInt(fitting.size()));
    }

    private void say(String what, @Nullable Waiting join) {
        said.add(join == null ? what : what + " @" + name(join.id.value()));
    }

    private static String names(List<Message> some) {
        return some.stream().map(each -> name(each.id)).toList().toString();
    }

    private static String name(UUID id) {
        return id.toString().substring(30);
    }
}
