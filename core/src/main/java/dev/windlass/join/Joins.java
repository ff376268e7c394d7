package dev.windlass.join;

import dev.windlass.base.WindlassException;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import java.sql.Connection;
import java.util.Optional;
import java.util.UUID;

/**
 * Waits for several messages, and lets one follow.
 *
 * <p>Messages become members when they are written ({@code OutboxEntry.withJoin}, {@code Outbox.fanOut}) or later
 * ({@code Outbox.attach}, {@code Inbox.attach}). Their ends count by themselves.
 *
 * <p>Thread-safe. Methods with a {@link Connection} take part in the caller's transaction, and never commit, roll back or close
 * it. The others join the transaction of {@code inTransaction} if this thread is in one, or have one of their own, and repeat it
 * after a deadlock or a lost connection. Bad arguments are refused with an {@link IllegalArgumentException} before any SQL; what
 * the database refuses arrives as {@link WindlassException}: a join that is not there or has ended, more members than steps.
 */
public interface Joins {

    /** Starts a join. */
    JoinIdentifier start(JoinEntry entry);

    /** The same in the caller's transaction. */
    JoinIdentifier start(Connection connection, JoinEntry entry);

    /** Says what follows a join, once. If the join has ended, it follows now. */
    void follow(JoinIdentifier join, FollowUp followUp);

    /** The same in the caller's transaction. */
    void follow(Connection connection, JoinIdentifier join, FollowUp followUp);

    /**
     * Counts a step as completed that no queue reports, such as a call of another system. Messages that are members report by
     * themselves; this is for the others. Returns whether it is counted so, now or before.
     *
     * @param step what names it; the id of a member counts that one
     */
    boolean reportCompleted(JoinIdentifier join, UUID step);

    /** The same for a step that failed. */
    boolean reportFailed(JoinIdentifier join, UUID step);

    /** The same in the caller's transaction. */
    boolean reportCompleted(Connection connection, JoinIdentifier join, UUID step);

    /** The same in the caller's transaction. */
    boolean reportFailed(Connection connection, JoinIdentifier join, UUID step);

    /** Ends a join, without anything that follows. Its members go on. Returns whether it is cancelled; false if it has ended. */
    boolean cancel(JoinIdentifier join);

    /** The same in the caller's transaction. */
    boolean cancel(Connection connection, JoinIdentifier join);

    /** The join as it is now, until it is cleaned up. */
    Optional<Join> find(JoinIdentifier join);

    /** Joins, the latest first. */
    Page<Join> list(JoinFilter filter, int limit);

    /** The page that begins after another. */
    Page<Join> list(JoinFilter filter, int limit, PagePosition after);

    /** The members of a join, in the order of their ids. */
    Page<JoinMember> members(JoinIdentifier join, int limit);

    /** The page that begins after another. */
    Page<JoinMember> members(JoinIdentifier join, int limit, PagePosition after);
}
