package dev.windlass.internal.join;

import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.Pages;
import dev.windlass.internal.support.Place;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.join.FollowUp;
import dev.windlass.join.Join;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinFilter;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinMember;
import dev.windlass.join.JoinStatus;
import dev.windlass.join.Joins;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import java.sql.Connection;
import java.util.Optional;
import java.util.UUID;

/** Internal: joins in the database. Programs use {@link dev.windlass.Windlass#joins}. */
public final class StoredJoins implements Joins {
    private static final String LIST = "joins";
    private static final String MEMBERS = "members of a join";

    private final Database database;
    private final JoinStore store;
    private final Runnable changed;
    private final TimeOrderedIds ids = new TimeOrderedIds();

    /**
     * @param changed called when a follow-up may have been committed
     */
    public StoredJoins(Database database, JoinStore store, Runnable changed) {
        this.database = database;
        this.store = store;
        this.changed = changed;
    }

    @Override
    public JoinIdentifier start(JoinEntry entry) {
        return start(Require.present("join entry", entry), new JoinIdentifier(ids.next()), ids.next());
    }

    private JoinIdentifier start(JoinEntry entry, JoinIdentifier id, UUID followUpId) {
        return database.retrying("start a join", connection -> {
            store.start(connection, id, followUpId, entry);
            return id;
        });
    }

    @Override
    public JoinIdentifier start(Connection connection, JoinEntry entry) {
        Require.present("join entry", entry);
        JoinIdentifier id = new JoinIdentifier(ids.next());
        return database.within(connection, "start a join", callers -> {
            store.start(callers, id, ids.next(), entry);
            return id;
        });
    }

    @Override
    public void follow(JoinIdentifier join, FollowUp followUp) {
        known(join);
        Require.present("follow-up", followUp);
        UUID id = ids.next();
        change("say what follows join " + join, connection -> {
            store.follow(connection, join, id, followUp);
            return true;
        });
    }

    @Override
    public void follow(Connection connection, JoinIdentifier join, FollowUp followUp) {
        known(join);
        Require.present("follow-up", followUp);
        database.within(connection, "say what follows join " + join, callers -> {
            store.follow(callers, join, ids.next(), followUp);
            return true;
        });
    }

    @Override
    public boolean reportCompleted(JoinIdentifier join, UUID step) {
        return report(join, step, JoinStatus.COMPLETED);
    }

    @Override
    public boolean reportFailed(JoinIdentifier join, UUID step) {
        return report(join, step, JoinStatus.FAILED);
    }

    private boolean report(JoinIdentifier join, UUID step, JoinStatus status) {
        known(join);
        Require.present("step", step);
        return change("report a step of join " + join, connection -> store.report(connection, join, step, status));
    }

    @Override
    public boolean reportCompleted(Connection connection, JoinIdentifier join, UUID step) {
        return report(connection, join, step, JoinStatus.COMPLETED);
    }

    @Override
    public boolean reportFailed(Connection connection, JoinIdentifier join, UUID step) {
        return report(connection, join, step, JoinStatus.FAILED);
    }

    private boolean report(Connection connection, JoinIdentifier join, UUID step, JoinStatus status) {
        known(join);
        Require.present("step", step);
        return database.within(
                connection, "report a step of join " + join, callers -> store.report(callers, join, step, status));
    }

    @Override
    public boolean cancel(JoinIdentifier join) {
        known(join);
        return change("cancel join " + join, connection -> store.cancel(connection, join));
    }

    @Override
    public boolean cancel(Connection connection, JoinIdentifier join) {
        known(join);
        return database.within(connection, "cancel join " + join, callers -> store.cancel(callers, join));
    }

    @Override
    public Optional<Join> find(JoinIdentifier join) {
        known(join);
        return database.retrying("read join " + join, connection -> store.find(connection, join));
    }

    @Override
    public Page<Join> list(JoinFilter filter, int limit) {
        return list(filter, limit, Place.START);
    }

    @Override
    public Page<Join> list(JoinFilter filter, int limit, PagePosition after) {
        return list(filter, limit, Pages.after(after, LIST));
    }

    private Page<Join> list(JoinFilter filter, int limit, Place after) {
        Require.present("filter", filter);
        Require.positive("limit", limit);
        return Pages.of(
                LIST,
                database.retrying("list joins", connection -> store.list(connection, filter, limit, after)),
                limit,
                join -> Place.at(join.createdAt(), join.id()));
    }

    @Override
    public Page<JoinMember> members(JoinIdentifier join, int limit) {
        return members(join, limit, Place.START);
    }

    @Override
    public Page<JoinMember> members(JoinIdentifier join, int limit, PagePosition after) {
        return members(join, limit, Pages.after(after, MEMBERS));
    }

    private Page<JoinMember> members(JoinIdentifier join, int limit, Place after) {
        known(join);
        Require.positive("limit", limit);
        return Pages.of(
                MEMBERS,
                database.retrying(
                        "read the members of join " + join,
                        connection -> store.members(connection, join, limit, after)),
                limit,
                member -> Place.at(member.id()));
    }

    private static void known(JoinIdentifier join) {
        Require.present("join identifier", join);
    }

    private boolean change(String what, Database.Work<Boolean> work) {
        boolean done = database.retrying(what, work);
        changed.run();
        return done;
    }
}
