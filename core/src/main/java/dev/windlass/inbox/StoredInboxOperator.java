package dev.windlass.inbox;

import static dev.windlass.runtime.Instants.instant;

import dev.windlass.runtime.Call;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.Require;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator's routines, called by name, in batches where there may be much to do. */
final class StoredInboxOperator implements InboxOperator {
    private static final Logger log = LoggerFactory.getLogger(InboxOperator.class);
    private static final int BATCH = 500;

    private final Database database;
    private final String table;
    private final String who;
    private final Runnable foundWork;

    /**
     * @param foundWork called when messages may have become ready
     */
    StoredInboxOperator(Database database, String table, String who, Runnable foundWork) {
        this.database = database;
        this.table = table;
        this.who = who;
        this.foundWork = foundWork;
    }

    private Call call(Connection connection, String routine) {
        return database.call(connection, table + "_" + routine);
    }

    @Override
    public List<ListedMessage> list(SeenFilter filter, int limit) {
        return listed(filter, limit, null);
    }

    @Override
    public List<ListedMessage> list(SeenFilter filter, int limit, ListedMessage last) {
        return listed(filter, limit, Require.present("message", last));
    }

    private List<ListedMessage> listed(SeenFilter filter, int limit, @Nullable ListedMessage last) {
        Require.present("filter", filter);
        Require.positive("limit", limit);
        InboxStatus status = filter.status();
        return database.retrying(
                "list messages",
                connection -> call(connection, "list")
                        .integer(limit)
                        .integer(status == null ? null : status.code())
                        .text(filter.source())
                        .text(filter.topic())
                        .instant(filter.from())
                        .instant(filter.until())
                        .instant(last == null ? null : last.at())
                        .text(last == null ? null : last.message().key().source())
                        .text(last == null ? null : last.message().key().messageId())
                        .list(row -> new ListedMessage(Rows.seen(row), instant(row, time(status)))));
    }

    /** The column that a list of this state is ordered by. */
    private static String time(@Nullable InboxStatus status) {
        if (status == null) {
            return "first_seen_at";
        }
        return switch (status) {
            case READY -> "next_attempt_at";
            case IN_PROGRESS -> "claimed_at";
            case DONE, DEAD -> "ended_at";
        };
    }

    @Override
    public List<SeenMessage> dead(InboxFilter filter, int limit) {
        return page(filter, limit, null);
    }

    @Override
    public List<SeenMessage> dead(InboxFilter filter, int limit, SeenMessage last) {
        Require.present("message", last);
        if (last.endedAt().isEmpty()) {
            throw new IllegalArgumentException("expected the last message of a page of dead ones, got " + last);
        }
        return page(filter, limit, last);
    }

    private List<SeenMessage> page(InboxFilter filter, int limit, @Nullable SeenMessage last) {
        Require.present("filter", filter);
        Require.positive("limit", limit);
        return database.retrying(
                "list dead messages",
                connection -> call(connection, "dead_letters")
                        .integer(limit)
                        .text(filter.source())
                        .text(filter.topic())
                        .instant(last == null ? null : last.endedAt().orElseThrow())
                        .text(last == null ? null : last.key().source())
                        .text(last == null ? null : last.key().messageId())
                        .list(Rows::seen));
    }

    @Override
    public List<SeenMessage> stuck(Duration olderThan, int limit) {
        Require.notNegative("age", olderThan);
        Require.positive("limit", limit);
        return database.retrying(
                "list stuck messages",
                connection -> call(connection, "stuck")
                        .duration(olderThan)
                        .integer(limit)
                        .list(Rows::seen));
    }

    @Override
    public int revive(Collection<InboxKey> keys) {
        return change("revive", keys);
    }

    @Override
    public int revive(InboxFilter filter) {
        return change("revive", filter);
    }

    @Override
    public int purge(Collection<InboxKey> keys) {
        return change("purge", keys);
    }

    @Override
    public int purge(InboxFilter filter) {
        return change("purge", filter);
    }

    private record Changed(int messages, Instant until) {}

    private int change(String verb, Collection<InboxKey> keys) {
        List<InboxKey> all =
                Require.elements("inbox keys", keys).stream().distinct().toList();
        int total = 0;
        for (int from = 0; from < all.size(); from += BATCH) {
            List<InboxKey> part = all.subList(from, Math.min(all.size(), from + BATCH));
            total += run(verb, part, InboxFilter.all(), null).messages();
        }
        return done(verb, total);
    }

    private int change(String verb, InboxFilter filter) {
        Require.present("filter", filter);
        Instant until = null;
        int total = 0;
        Changed changed;
        do {
            changed = run(verb, null, filter, until);
            until = changed.until();
            total += changed.messages();
        } while (changed.messages() == BATCH);
        return done(verb, total);
    }

    private Changed run(String verb, @Nullable List<InboxKey> keys, InboxFilter filter, @Nullable Instant until) {
        return database.retrying(
                verb + " dead messages",
                connection -> call(connection, verb)
                        .texts(
                                keys == null
                                        ? null
                                        : keys.stream().map(InboxKey::source).toList())
                        .texts(
                                keys == null
                                        ? null
                                        : keys.stream().map(InboxKey::messageId).toList())
                        .text(filter.source())
                        .text(filter.topic())
                        .instant(until)
                        .integer(BATCH)
                        .bool(keys == null)
                        .list(row -> new Changed(row.getInt("messages"), instant(row, "until")))
                        .get(0));
    }

    private int done(String verb, int messages) {
        log.info("[{}] {} by {}: {} dead messages", database.name(), verb, who, messages);
        if (messages > 0) {
            foundWork.run();
        }
        return messages;
    }
}
