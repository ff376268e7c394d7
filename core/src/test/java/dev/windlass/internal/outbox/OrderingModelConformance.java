package dev.windlass.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.internal.queue.Claimed;
import dev.windlass.internal.queue.OrderedStore.Acked;
import dev.windlass.internal.queue.OrderedStore.Taker;
import dev.windlass.internal.queue.WorkStore.Held;
import dev.windlass.operator.Attempts;
import dev.windlass.outbox.FailedHead;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOperator;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random steps on ordering keys, beside a model of a line of messages for each key: every claim takes just those that the model
 * expects. One thread, so a seed repeats a run; give it as the system property {@code windlass.seed}.
 */
@Timeout(60)
@OnEveryEngine
final class OrderingModelConformance extends OutboxConformance {
    private static final int STEPS = 250;
    private static final OwnerToken OWNER = OwnerToken.fresh();
    private static final List<String> KEYS = List.of("a", "b", "c");

    private enum State {
        IN_LINE,
        CLAIMED,
        BLOCKING,
        PASSED_OVER,
        ENDED
    }

    private static final class Message {
        final UUID id;
        final String key;
        State state = State.IN_LINE;
        boolean requeued;

        Message(UUID id, String key) {
            this.id = id;
            this.key = key;
        }

        OutboxWorkItemIdentifier item() {
            return new OutboxWorkItemIdentifier(id);
        }

        List<OutboxMessageIdentifier> alone() {
            return List.of(new OutboxMessageIdentifier(id));
        }
    }

    private static final class Writer {
        final Connection connection;
        final List<Message> written = new ArrayList<>();

        Writer(Connection connection) {
            this.connection = connection;
        }

        boolean holds(String key) {
            return written.stream().anyMatch(message -> message.key.equals(key));
        }
    }

    private final List<Writer> writers = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>(); // in the order of their commits
    private final List<String> steps = new ArrayList<>();
    private Random random = new Random();

    static LongStream seeds() {
        Long given = Long.getLong("windlass.seed");
        return given != null ? LongStream.of(given) : new Random().longs(6);
    }

    @AfterEach
    void closeWriters() throws SQLException {
        for (Writer writer : writers) {
            writer.connection.rollback();
            writer.connection.close();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyClaimTakesJustTheFirstsOfTheLines(long seed) throws SQLException {
        random = new Random(seed);
        steps.add("seed " + seed);
        for (int i = 0; i < 3; i++) {
            Connection connection = database().connect();
            connection.setAutoCommit(false);
            writers.add(new Writer(connection));
        }
        for (int i = 0; i < STEPS; i++) {
            step();
        }
        finish();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key"))
                .isZero();
        assertThat(database().value(Long.class, "select count(*) from %s.outbox_key_freed"))
                .isZero();
        assertThat(count("status in (0, 1, 4) or blocks_key")).isZero();
    }

    private void step() throws SQLException {
        OutboxOperator operator = outbox.operator("anna");
        switch (random.nextInt(22)) {
            case 0, 1, 2, 3 -> write();
            case 4, 5 -> commit(any(writers, writer -> true));
            case 6 -> rollBack(any(writers, writer -> true));
            case 7, 8, 9 -> claim();
            case 10, 11 -> on("ack", State.CLAIMED, State.ENDED, each -> outbox.ack(OWNER, List.of(each.item())));
            case 12 ->
                on(
                        "abandon",
                        State.CLAIMED,
                        State.IN_LINE,
                        each -> outbox.abandon(OWNER, List.of(each.item()), Duration.ZERO, "again"));
            case 13 -> on("lose", State.CLAIMED, State.IN_LINE, this::lose);
            case 14 ->
                on("fail", State.CLAIMED, State.BLOCKING, each -> outbox.fail(OWNER, List.of(each.item()), "broken"));
            case 15 ->
                on(
                        "fail and skip",
                        State.CLAIMED,
                        State.PASSED_OVER,
                        each -> outbox.fail(OWNER, List.of(each.item()), "broken", FailedHead.IS_SKIPPED));
            case 16 ->
                on(
                        "cancel",
                        State.IN_LINE,
                        State.ENDED,
                        each -> outbox.cancel(each.alone().get(0)) ? 1 : 0);
            case 17 -> on("expire", State.IN_LINE, State.PASSED_OVER, this::expire);
            case 18 -> {
                on("skip", State.BLOCKING, State.PASSED_OVER, each -> operator.skip(each.alone()));
                on("purge", State.PASSED_OVER, State.ENDED, each -> operator.purge(each.alone()));
            }
            case 19, 20 -> ackAndTake();
            default -> requeue(operator);
        }
    }

    @FunctionalInterface
    private interface Verb {
        int on(Message message) throws SQLException;
    }

    private void on(String name, State from, State to, Verb verb) throws SQLException {
        Message message = any(messages, each -> each.state == from);
        if (message != null) {
            say(name, message);
            assertThat(verb.on(message)).as("%s", steps).isEqualTo(1);
            message.state = to;
        }
    }

    /** Whoever writes to a key waits for others who do, which one thread cannot. */
    private void write() {
        String key = KEYS.get(random.nextInt(KEYS.size()));
        Writer other = any(writers, each -> each.holds(key));
        Writer writer = other != null ? other : any(writers, each -> true);
        if (writer != null) {
            OutboxEntry entry = OutboxEntry.of("topic", "{}").withOrderingKey(key);
            Message message =
                    new Message(outbox.enqueue(writer.connection, entry).value(), key);
            writer.written.add(message);
            say("write", message);
        }
    }

    private void commit(@Nullable Writer writer) throws SQLException {
        if (writer != null) {
            writer.connection.commit();
            writer.written.forEach(each -> say("commit", each));
            messages.addAll(writer.written);
            writer.written.clear();
        }
    }

    private void rollBack(@Nullable Writer writer) throws SQLException {
        if (writer != null) {
            writer.connection.rollback();
            writer.written.forEach(each -> say("roll back", each));
            writer.written.clear();
        }
    }

    private int lose(Message message) {
        runOutLease(List.of(message.item()));
        return outbox.reapExpired();
    }

    private int expire(Message message) throws SQLException {
        database().update("update %s.outbox set expires_at = created_at where id = ?", message.id);
        return database().routines().once(connection -> store(LEASE).expire(connection, 10));
    }

    /** It comes before whatever has not begun, or after the one that is ready just now. */
    private void requeue(OutboxOperator operator) throws SQLException {
        Message message = any(
                messages,
                each -> each.state == State.BLOCKING
                        || (each.state == State.PASSED_OVER
                                && writers.stream().noneMatch(writer -> writer.holds(each.key))));
        if (message != null) {
            say("requeue", message);
            assertThat(operator.requeue(message.alone(), Attempts.RESET)).isEqualTo(1);
            message.state = State.IN_LINE;
            message.requeued = true;
        }
    }

    private void claim() {
        Map<String, Set<UUID>> admissible = admissible();
        Map<String, UUID> claimed = new TreeMap<>();
        for (OutboxMessage message : outbox.claim(OWNER, LEASE, 100)) {
            UUID other = claimed.put(
                    message.orderingKey().orElseThrow(), message.id().value());
            assertThat(other).as("%s", steps).isNull();
        }
        steps.add("claim " + claimed);
        assertThat(claimed.keySet()).as("%s", steps).isEqualTo(admissible.keySet());
        claimed.forEach(
                (key, id) -> assertThat(admissible.get(key)).as("%s", steps).contains(id));
        messages.stream().filter(each -> claimed.containsValue(each.id)).forEach(each -> each.state = State.CLAIMED);
    }

    /** The next in line goes with the end of the one before; one that was put there by an operator need not. */
    private void ackAndTake() throws SQLException {
        Message message = any(messages, each -> each.state == State.CLAIMED);
        if (message == null) {
            return;
        }
        Held held = new Held(message.id, OWNER.value(), true);
        Taker taker = new Taker(OWNER.value(), LEASE, Set.of("topic"), Long.MAX_VALUE);
        Acked<OutboxMessage> acked =
                database().routines().once(connection -> store(LEASE).ackAndTake(connection, List.of(held), taker));
        say("ack and take", message);
        message.state = State.ENDED;
        List<UUID> taken = acked.taken().stream().map(Claimed::id).toList();
        steps.add("taken " + taken);
        Set<UUID> admissible = admissible().getOrDefault(message.key, Set.of());
        assertThat(acked.answer().changed()).isEqualTo(1);
        assertThat(admissible).as("%s", steps).containsAll(taken);
        if (messages.stream().noneMatch(each -> each.key.equals(message.key) && each.requeued)) {
            assertThat(taken).as("%s", steps).hasSize(admissible.size());
        }
        messages.stream().filter(each -> taken.contains(each.id)).forEach(each -> each.state = State.CLAIMED);
    }

    /** For each key that nobody holds: the first in line, and those that an operator has put into it. */
    private Map<String, Set<UUID>> admissible() {
        Map<String, Set<UUID>> admissible = new HashMap<>();
        for (String key : KEYS) {
            List<Message> line =
                    messages.stream().filter(each -> each.key.equals(key)).toList();
            Set<UUID> ids = new LinkedHashSet<>();
            line.stream()
                    .filter(each -> each.state == State.IN_LINE && each.requeued)
                    .forEach(each -> ids.add(each.id));
            line.stream()
                    .filter(each -> each.state == State.IN_LINE && !each.requeued)
                    .findFirst()
                    .ifPresent(each -> ids.add(each.id));
            boolean held = line.stream().anyMatch(each -> each.state == State.CLAIMED || each.state == State.BLOCKING);
            if (!held && !ids.isEmpty()) {
                admissible.put(key, ids);
            }
        }
        return admissible;
    }

    private void finish() throws SQLException {
        for (Writer writer : writers) {
            commit(writer);
        }
        while (messages.stream().anyMatch(each -> each.state.compareTo(State.PASSED_OVER) < 0)) {
            on(
                    "skip",
                    State.BLOCKING,
                    State.PASSED_OVER,
                    each -> outbox.operator("anna").skip(each.alone()));
            on("ack", State.CLAIMED, State.ENDED, each -> outbox.ack(OWNER, List.of(each.item())));
            claim();
        }
        claim();
    }

    private <T> @Nullable T any(List<T> all, Predicate<T> condition) {
        List<T> fitting = all.stream().filter(condition).toList();
        return fitting.isEmpty() ? null : fitting.get(random.nextInt(fitting.size()));
    }

    private void say(String verb, Message message) {
        steps.add(verb + " " + message.key + " " + message.id.toString().substring(24));
    }
}
