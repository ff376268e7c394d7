/**
 * The transactional outbox: a message written in the same transaction as the business change it speaks of, and handled at
 * least once after that transaction has been committed.
 *
 * <h2>Life of a message</h2>
 *
 * <p>{@link dev.windlass.outbox.Outbox#enqueue} writes it as <em>ready</em>. A node with a handler for its topic claims it: it
 * is <em>in progress</em>, with an owner token and a lease. The handler returns and it is <em>done</em>; the handler throws and
 * it is ready again after a pause, until its attempts are used up and it has <em>failed</em>. A node that dies leaves a lease
 * that runs out, and the message is ready again.
 *
 * <p>With an ordering key it may first be <em>waiting</em>, until all that were written before it under that key have ended.
 * Before it is claimed it can be <em>cancelled</em>. A failed message is a dead letter: it stays until an
 * {@linkplain dev.windlass.outbox.OutboxOperator operator} requeues or purges it.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>A message exists exactly if its transaction was committed.
 *   <li>It has an owner and a lease exactly while it is in progress, and never two owners.
 *   <li>Only the owner changes it then; a late change of a former owner finds nothing to change.
 *   <li>It leaves only by ack, fail, expiry, cancellation, a purge or the end of its retention. Nothing else loses it.
 *   <li>Of an ordering key at most one message is ready or in progress: the first that has not ended.
 * </ul>
 *
 * <h2>What it does not promise</h2>
 *
 * <p>Exactly-once handling: a node can die between the handler's last line and the ack. Handlers are idempotent, for example
 * by the message id. Order without a key: messages of one topic start in about the order they were written, and run side by
 * side.
 */
@NullMarked
package dev.windlass.outbox;

import org.jspecify.annotations.NullMarked;
