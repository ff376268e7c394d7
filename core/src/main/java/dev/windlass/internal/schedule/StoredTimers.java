package dev.windlass.internal.schedule;

import dev.windlass.base.PayloadCodec;
import dev.windlass.base.QueueKind;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Announcer;
import dev.windlass.internal.queue.ForwardedClaims;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.Written;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.TimerOperator;
import dev.windlass.schedule.Timers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Timers in the database: checks arguments, calls the store, and wakes whoever waits for the next due one. */
final class StoredTimers extends ForwardedClaims<Timer, TimerIdentifier> implements Timers {
    private static final Logger log = LoggerFactory.getLogger(Timers.class);
    private static final int MAX_TEXT = 255;

    private final Database database;
    private final TimerStore store;
    private final TimerHandOff handOff;
    private final Announcer announcer;
    private final PayloadCodec codec;
    private final Function<String, TimerOperator> operators;
    private final TimeOrderedIds ids = new TimeOrderedIds();
    private volatile boolean written;

    StoredTimers(
            Database database,
            TimerStore store,
            TimerHandOff handOff,
            Announcer announcer,
            PayloadCodec codec,
            OwnWork<Timer, TimerIdentifier> own,
            Function<String, TimerOperator> operators) {
        super(own);
        this.database = database;
        this.store = store;
        this.handOff = handOff;
        this.announcer = announcer;
        this.codec = codec;
        this.operators = operators;
    }

    @Override
    public TimerIdentifier schedule(TimerEntry entry) {
        Require.present("timer entry", entry);
        UUID id = ids.next();
        return onceOnly(
                what(entry),
                id,
                connection -> store.schedule(
                        connection, id, entry, isSoon(entry) && !handOff.isRunning() && announcer.announce()),
                connection -> id,
                stands -> committed(entry, stands),
                connection -> schedule(connection, entry));
    }

    private static String what(TimerEntry entry) {
        return "schedule a timer of topic " + entry.topic();
    }

    private TimerIdentifier committed(TimerEntry entry, UUID stands) {
        logScheduled(entry, stands);
        committed(entry);
        return new TimerIdentifier(stands);
    }

    @Override
    public TimerIdentifier schedule(Connection connection, TimerEntry entry) {
        Require.present("timer entry", entry);
        return database.within(connection, what(entry), callers -> {
            UUID stands = store.schedule(callers, ids.next(), entry, isSoon(entry) && announcer.announce());
            logScheduled(entry, stands);
            signal(callers, List.of(entry));
            return new TimerIdentifier(stands);
        });
    }

    @Override
    public List<TimerIdentifier> scheduleAll(Collection<TimerEntry> entries) {
        List<TimerEntry> all = List.copyOf(Require.elements("timer entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        List<UUID> made = ids.next(all.size());
        return onceOnly(
                "schedule " + all.size() + " timers",
                witness(all, made),
                connection -> store.scheduleAll(
                        connection, made, all, !handOff.isRunning() && anySoon(all) && announcer.announce()),
                connection -> standing(connection, all, made),
                stand -> committed(all, stand),
                connection -> scheduleAll(connection, all));
    }

    private List<TimerIdentifier> committed(List<TimerEntry> entries, List<UUID> stand) {
        logScheduled(entries);
        entries.forEach(this::committed);
        return identifiers(stand);
    }

    @Override
    public List<TimerIdentifier> scheduleAll(Connection connection, Collection<TimerEntry> entries) {
        Require.present("connection", connection);
        List<TimerEntry> all = List.copyOf(Require.elements("timer entries", entries));
        if (all.isEmpty()) {
            return List.of();
        }
        return database.within(connection, "schedule " + all.size() + " timers", callers -> {
            boolean announce = anySoon(all) && announcer.announce();
            List<UUID> stand = store.scheduleAll(callers, ids.next(all.size()), all, announce);
            logScheduled(all);
            signal(callers, all);
            return identifiers(stand);
        });
    }

    @Override
    public <T> TimerEntry entry(Topic<T> topic, T payload, Duration delay) {
        return TimerEntry.of(Require.present("topic", topic).name(), encoded(payload), delay);
    }

    @Override
    public <T> TimerEntry entry(Topic<T> topic, T payload, Instant dueTime) {
        return TimerEntry.of(Require.present("topic", topic).name(), encoded(payload), dueTime);
    }

    private String encoded(Object payload) {
        return codec.encode(Require.present("payload", payload));
    }

    private static List<TimerIdentifier> identifiers(List<UUID> ids) {
        return ids.stream().map(TimerIdentifier::new).toList();
    }

    /** The one whose id is stored if they were written: a timer with a key may have found another that stands. */
    private static UUID witness(List<TimerEntry> entries, List<UUID> ids) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).key() == null) {
                return ids.get(i);
            }
        }
        return ids.get(0);
    }

    private List<UUID> standing(Connection connection, List<TimerEntry> entries, List<UUID> made) throws SQLException {
        List<UUID> stand = new ArrayList<>(made);
        for (int i = 0; i < made.size(); i++) {
            TimerEntry entry = entries.get(i);
            if (entry.key() != null) {
                Optional<Timer> its =
                        store.find(connection, entry.topic(), entry.key().value());
                stand.set(i, its.map(timer -> timer.id().value()).orElse(made.get(i)));
            }
        }
        return stand;
    }

    /** A try whose answer was lost may have been committed, and the timer may be a message by now; its id tells. */
    private <T, R> R onceOnly(
            String what,
            UUID id,
            Database.Work<T> write,
            Database.Work<T> written,
            Function<T, R> committed,
            Database.Work<R> joined) {
        boolean[] tried = {false};
        return database.adding(
                what,
                connection -> {
                    boolean again =
                            tried[0] && (store.find(connection, id).isPresent() || store.isMessage(connection, id));
                    tried[0] = true;
                    return again ? written.run(connection) : write.run(connection);
                },
                committed,
                joined);
    }

    private void logScheduled(List<TimerEntry> entries) {
        log.debug("[{}] scheduled {} timers", database.name(), entries.size());
        Written.tell(database, QueueKind.TIMERS, entries, TimerEntry::topic);
    }

    private void logScheduled(TimerEntry entry, UUID id) {
        log.debug("[{}] scheduled timer {}: {}", database.name(), id, entry);
        Written.tell(database, QueueKind.TIMERS, List.of(entry), TimerEntry::topic);
    }

    /** Whether somebody may be asleep who has to wake up before the timer is due. */
    private boolean isSoon(TimerEntry entry) {
        return entry.delay() == null
                ? handOff.isSoon(Objects.requireNonNull(entry.dueTime()))
                : TimerHandOff.isSoon(entry.delay());
    }

    private boolean anySoon(List<TimerEntry> entries) {
        return entries.stream().anyMatch(this::isSoon);
    }

    private void committed(TimerEntry entry) {
        if (entry.delay() != null) {
            handOff.wakeWithin(entry.delay());
        } else if (isSoon(entry)) {
            handOff.wake();
        }
    }

    private void signal(Connection connection, List<TimerEntry> entries) throws SQLException {
        if (connection.getAutoCommit()) {
            entries.forEach(this::committed);
        } else if (anySoon(entries)) {
            expect();
        }
    }

    private void expect() {
        written = true;
        handOff.expect();
    }

    /** This process has committed a transaction that may have written timers. */
    void committed() {
        if (written) {
            written = false;
            handOff.wake();
        }
    }

    @Override
    public boolean cancel(TimerIdentifier id) {
        Require.present("timer identifier", id);
        return cancelOnce(
                "cancel timer " + id.value(),
                connection -> store.cancel(connection, id.value()),
                connection -> store.isMessage(connection, id.value()));
    }

    /**
     * If the answer of a first try was lost, and the second finds nothing, the first may have cancelled the timer, or it may have
     * been done; only a message tells.
     */
    private boolean cancelOnce(String what, Database.Work<Boolean> cancel, Database.Work<Boolean> isMessage) {
        boolean[] tried = {false};
        return database.retrying(what, connection -> {
            boolean again = tried[0];
            tried[0] = true;
            boolean cancelled = cancel.run(connection);
            if (!cancelled && again && !isMessage.run(connection)) {
                throw new WindlassException("[" + database.name() + "] could not tell whether it did " + what
                        + ": the answer was lost, and the timer is gone");
            }
            return cancelled;
        });
    }

    @Override
    public boolean cancel(Connection connection, TimerIdentifier id) {
        Require.present("timer identifier", id);
        return database.within(connection, "cancel timer " + id.value(), callers -> store.cancel(callers, id.value()));
    }

    @Override
    public boolean cancel(String topic, String key) {
        checkKey(topic, key);
        return cancelOnce(
                "cancel a timer of topic " + topic,
                connection -> store.cancel(connection, topic, key),
                connection -> false);
    }

    @Override
    public boolean cancel(Connection connection, String topic, String key) {
        checkKey(topic, key);
        return database.within(
                connection, "cancel a timer of topic " + topic, callers -> store.cancel(callers, topic, key));
    }

    private static void checkKey(String topic, String key) {
        Require.name("topic", topic, MAX_TEXT);
        Require.name("timer key", key, MAX_TEXT);
    }

    @Override
    public boolean reschedule(TimerIdentifier id, Instant dueTime) {
        Require.instant("due time", dueTime);
        return reschedule(id, dueTime, null, handOff.isSoon(dueTime));
    }

    @Override
    public boolean reschedule(TimerIdentifier id, Duration delay) {
        Require.notNegative("delay", delay);
        return reschedule(id, null, delay, TimerHandOff.isSoon(delay));
    }

    private boolean reschedule(TimerIdentifier id, @Nullable Instant dueTime, @Nullable Duration delay, boolean soon) {
        Require.present("timer identifier", id);
        return database.retrying(
                "reschedule timer " + id.value(),
                connection -> store.reschedule(
                        connection, id.value(), dueTime, delay, soon && !handOff.isRunning() && announcer.announce()),
                changed -> {
                    if (changed && soon) {
                        handOff.wake();
                    }
                    return changed;
                },
                connection -> reschedule(connection, id, dueTime, delay, soon));
    }

    @Override
    public boolean reschedule(Connection connection, TimerIdentifier id, Instant dueTime) {
        Require.instant("due time", dueTime);
        return reschedule(connection, id, dueTime, null, handOff.isSoon(dueTime));
    }

    @Override
    public boolean reschedule(Connection connection, TimerIdentifier id, Duration delay) {
        Require.notNegative("delay", delay);
        return reschedule(connection, id, null, delay, TimerHandOff.isSoon(delay));
    }

    private boolean reschedule(
            Connection connection,
            TimerIdentifier id,
            @Nullable Instant dueTime,
            @Nullable Duration delay,
            boolean soon) {
        Require.present("timer identifier", id);
        boolean changed = database.within(
                connection,
                "reschedule timer " + id.value(),
                callers -> store.reschedule(callers, id.value(), dueTime, delay, soon && announcer.announce()));
        if (changed && soon) {
            expect();
        }
        return changed;
    }

    @Override
    public Optional<Timer> find(TimerIdentifier id) {
        Require.present("timer identifier", id);
        return database.retrying("read timer " + id.value(), connection -> store.find(connection, id.value()));
    }

    @Override
    public Optional<Timer> find(String topic, String key) {
        checkKey(topic, key);
        return database.retrying("read a timer of topic " + topic, connection -> store.find(connection, topic, key));
    }

    @Override
    public List<FailedAttempt> failures(TimerIdentifier id) {
        Require.present("timer identifier", id);
        return database.retrying(
                "read the failures of " + id.value(), connection -> store.failures(connection, id.value()));
    }

    @Override
    public TimerOperator operator(String name) {
        return operators.apply(Require.text("name of the operator", name, MAX_TEXT));
    }
}
