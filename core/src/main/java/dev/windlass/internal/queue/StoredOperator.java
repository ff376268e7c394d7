package dev.windlass.internal.queue;

import static dev.windlass.internal.database.Instants.instant;

import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Call;
import dev.windlass.internal.database.Columns;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Instants;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.Place;
import dev.windlass.internal.support.Require;
import dev.windlass.operator.Attempts;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.Operator;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import dev.windlass.operator.PausedTopic;
import dev.windlass.operator.TopicLimit;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator's routines of a queue, called by name, in batches where there may be much to do. */
public class StoredOperator<I, L> implements Operator<I, L> {
    private static final Logger log = LoggerFactory.getLogger(Operator.class);
    private static final int MAX_TOPIC = 255;
    private static final int BATCH = 500;

    private final Database database;
    private final String queue;
    private final String who;
    private final Kind<I, L> kind;
    private final Effects effects;

    /**
     * What a queue is made of.
     *
     * @param nouns what several of it are called
     * @param value the id behind an identifier
     * @param listed makes one of a list of a row; it gets the time of the state that the list is ordered by
     * @param place where one of a list stands in it
     */
    public record Kind<I, L>(String nouns, Function<I, UUID> value, Listing<L> listed, Function<L, Place> place) {

        /** One whose names have another form: {@link #named} is overridden. */
        public Kind(String nouns, Listing<L> listed, Function<L, Place> place) {
            this(
                    nouns,
                    id -> {
                        throw new IllegalStateException("expected ids in the form of this queue, got " + id);
                    },
                    listed,
                    place);
        }
    }

    /** Makes one of a list of a row. */
    @FunctionalInterface
    public interface Listing<L> {
        L of(ResultSet row, Instant at) throws SQLException;
    }

    /**
     * What follows from changes.
     *
     * @param foundWork called when something may have become ready
     * @param pausesChanged called when a topic has been paused or resumed
     */
    public record Effects(Runnable foundWork, Runnable pausesChanged) {}

    public StoredOperator(Database database, String queue, String who, Kind<I, L> kind, Effects effects) {
        this.database = database;
        this.queue = queue;
        this.who = who;
        this.kind = kind;
        this.effects = effects;
    }

    protected Call call(Connection connection, String routine) {
        return database.call(connection, queue + "_" + routine);
    }

    @Override
    public Page<L> list(MessageFilter filter, int limit) {
        return page(filter, limit, Place.START);
    }

    @Override
    public Page<L> list(MessageFilter filter, int limit, PagePosition after) {
        return page(filter, limit, Pages.after(after, listOf(Require.present("filter", filter))));
    }

    private Page<L> page(MessageFilter filter, int limit, Place after) {
        Require.present("filter", filter);
        Require.positive("limit", limit);
        WorkStatus status = filter.status();
        List<L> shown = database.retrying(
                "list " + kind.nouns(),
                connection -> after(
                                after,
                                filtered(
                                        call(connection, "list")
                                                .integer(limit)
                                                .integer(status == null ? null : status.code()),
                                        filter))
                        .list(row -> kind.listed().of(row, instant(row, time(status)))));
        return Pages.of(listOf(filter), shown, limit, kind.place());
    }

    /** Each state has an order of its own, so a position in one list is none in another. */
    private String listOf(MessageFilter filter) {
        WorkStatus status = filter.status();
        String state =
                status == null ? "" : status.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " ";
        return state + kind.nouns() + " of " + queue;
    }

    /** Adds what is named, if anything is. */
    protected Call named(@Nullable List<I> ids, Call call) {
        return call.uuids(ids == null ? null : Columns.each(ids, kind.value()));
    }

    /** Adds where the page before ended. */
    protected Call after(Place last, Call call) {
        return call.instant(last.instant(0)).uuid(last.uuid(1));
    }

    /** The column that a list of this state is ordered by. */
    private static String time(@Nullable WorkStatus status) {
        if (status == null) {
            return "created_at";
        }
        return switch (status) {
            case READY -> "next_attempt_at";
            case IN_PROGRESS -> "claimed_at";
            case DONE, FAILED, CANCELLED -> "ended_at";
            case WAITING -> "created_at";
        };
    }

    private static Call filtered(Call call, MessageFilter filter) {
        return call.text(filter.topic())
                .text(filter.source())
                .instant(filter.from())
                .instant(filter.until())
                .text(filter.error());
    }

    @Override
    public int requeue(Collection<I> ids, Attempts attempts) {
        Require.present("choice of attempts", attempts);
        return change("requeue", ids, call -> call.bool(attempts == Attempts.RESET));
    }

    @Override
    public int requeue(MessageFilter failed, Attempts attempts) {
        Require.present("choice of attempts", attempts);
        return change("requeue", failed, call -> call.bool(attempts == Attempts.RESET));
    }

    @Override
    public int purge(Collection<I> ids) {
        return change("purge", ids, UnaryOperator.identity());
    }

    @Override
    public int purge(MessageFilter failed) {
        return change("purge", failed, UnaryOperator.identity());
    }

    private record Changed(long action, int count, @Nullable Instant reached) {}

    /**
     * Changes failed ones by their ids.
     *
     * @param more adds arguments after those that all such verbs have
     */
    protected final int change(String verb, Collection<I> ids, UnaryOperator<Call> more) {
        List<I> all = distinct(ids);
        Long action = null;
        int total = 0;
        for (int from = 0; from < all.size(); from += BATCH) {
            List<I> part = all.subList(from, Math.min(all.size(), from + BATCH));
            Changed changed = change(verb, part, MessageFilter.all(), action, more);
            action = changed.action();
            total += changed.count();
        }
        return done(verb, total);
    }

    /** The same by a filter: batch by batch, from the oldest on, until there are no more. */
    protected final int change(String verb, MessageFilter failed, UnaryOperator<Call> more) {
        MessageFilter rest = onlyFailed(verb, failed);
        Long action = null;
        int total = 0;
        boolean goesOn;
        do {
            Changed changed = change(verb, null, rest, action, more);
            action = changed.action();
            total += changed.count();
            // some may have been looked at and left, so a batch that is not full need not be the last one
            goesOn = changed.count() == BATCH
                    || (changed.reached() != null && !changed.reached().equals(rest.from()));
            rest = changed.reached() == null ? rest : rest.withFrom(changed.reached());
        } while (goesOn);
        return done(verb, total);
    }

    private static MessageFilter onlyFailed(String verb, MessageFilter filter) {
        WorkStatus status = Require.present("filter", filter).status();
        if (status != null && status != WorkStatus.FAILED) {
            throw new IllegalArgumentException("expected a filter of what has failed, got one of " + status
                    + "; only that can be changed by " + verb);
        }
        return filter;
    }

    private Changed change(
            String verb, @Nullable List<I> ids, MessageFilter filter, @Nullable Long action, UnaryOperator<Call> more) {
        return database.retrying(
                verb + " failed " + kind.nouns(),
                connection -> more.apply(filtered(
                                        named(ids, call(connection, verb).text(who)), filter)
                                .integer(BATCH)
                                .number(action)
                                .bool(ids == null))
                        .list(row -> new Changed(
                                row.getLong("action"),
                                row.getInt("messages"),
                                Instants.optionalInstant(row, "reached").orElse(null)))
                        .get(0));
    }

    private int done(String verb, int count) {
        log.info("[{}] {} by {}: {} failed {}", database.name(), verb, who, count, kind.nouns());
        effects.foundWork().run();
        return count;
    }

    private List<I> distinct(Collection<I> ids) {
        return Require.elements("identifiers", ids).stream().distinct().toList();
    }

    @Override
    public int erase(Collection<I> ids) {
        List<I> all = distinct(ids);
        if (all.isEmpty()) {
            return 0;
        }
        int erased = database.retrying(
                "erase payloads",
                connection -> named(all, call(connection, "erase").text(who)).count());
        log.info("[{}] erase by {}: {} {}", database.name(), who, erased, kind.nouns());
        return erased;
    }

    @Override
    public boolean pause(String topic, String reason) {
        Require.name("topic", topic, MAX_TOPIC);
        String text = ErrorText.bounded(Require.storable("reason", reason));
        return turned("pause", "paused", topic, call -> call.text(text));
    }

    @Override
    public boolean resume(String topic) {
        Require.name("topic", topic, MAX_TOPIC);
        return turned("resume", "resumed", topic, UnaryOperator.identity());
    }

    private boolean turned(String verb, String past, String topic, UnaryOperator<Call> more) {
        boolean changed = database.retrying(
                verb + " topic " + topic,
                connection -> more.apply(
                                call(connection, verb + "_topic").text(who).text(topic))
                        .value(row -> row.getBoolean(1)));
        effects.pausesChanged().run();
        if (changed) {
            log.info("[{}] topic {} was {} by {}", database.name(), topic, past, who);
        }
        return changed;
    }

    @Override
    public List<PausedTopic> pausedTopics() {
        List<PausedTopic> paused = new ArrayList<>();
        decided("list paused topics", row -> {
            if (row.getObject("paused_at") != null) {
                paused.add(new PausedTopic(
                        row.getString("topic"),
                        instant(row, "paused_at"),
                        row.getString("paused_by"),
                        Optional.ofNullable(row.getString("reason"))));
            }
        });
        return paused;
    }

    @Override
    public boolean limit(String topic, TopicLimit limit) {
        Require.name("topic", topic, MAX_TOPIC);
        Require.present("limit", limit);
        return turned(
                "limit",
                "limited",
                topic,
                call -> call.integer(limit.running())
                        .integer(limit.perKey())
                        .integer(limit.rate())
                        .duration(limit.period()));
    }

    @Override
    public Map<String, TopicLimit> limits() {
        Map<String, TopicLimit> limits = new LinkedHashMap<>();
        decided("list limits", row -> {
            Long micros = row.getObject("rate_micros", Long.class);
            TopicLimit limit = new TopicLimit(
                    row.getObject("max_running", Integer.class),
                    row.getObject("max_per_key", Integer.class),
                    row.getObject("rate", Integer.class),
                    micros == null ? null : Duration.of(micros, ChronoUnit.MICROS));
            if (!limit.equals(TopicLimit.none())) {
                limits.put(row.getString("topic"), limit);
            }
        });
        return limits;
    }

    @FunctionalInterface
    private interface Reading {
        void read(ResultSet row) throws SQLException;
    }

    private void decided(String what, Reading reading) {
        database.retrying(
                what,
                connection -> call(connection, "decided_topics").list(row -> {
                    reading.read(row);
                    return true;
                }));
    }

    @Override
    public Page<OperatorAction> actions(int limit) {
        return actions(limit, Place.START);
    }

    @Override
    public Page<OperatorAction> actions(int limit, PagePosition after) {
        return actions(limit, Pages.after(after, listOfActions()));
    }

    private Page<OperatorAction> actions(int limit, Place after) {
        Require.positive("limit", limit);
        List<OperatorAction> shown = database.retrying(
                "list actions",
                connection -> call(connection, "actions")
                        .integer(limit)
                        .number(after.number(0))
                        .list(row -> new OperatorAction(
                                row.getLong("id"),
                                instant(row, "acted_at"),
                                row.getString("acted_by"),
                                row.getString("verb"),
                                row.getString("detail"),
                                row.getInt("messages"))));
        return Pages.of(listOfActions(), shown, limit, last -> Place.at(last.number()));
    }

    private String listOfActions() {
        return "actions of " + queue;
    }
}
