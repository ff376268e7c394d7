/**
 * Work that is due later: timers, once, and jobs, again and again.
 *
 * <p>What is due becomes a message of the outbox, in the transaction that ends it here, and under its own id. From then on it is
 * handled as any other message: by the handler of its topic, with retries, on whatever node has room.
 *
 * <h2>Ticks</h2>
 *
 * <p>A job knows its next tick. Nodes sleep until it fires; then each of them reads the job, computes which ticks are due, which
 * of them run by its rules, and which comes next, and asks the database to write all of that if the job still has the version
 * that was read. One node's write goes through, with the runs and their messages in the same transaction; the others find the
 * version changed. A unique index over job and tick stands behind it, for jobs that are deleted and saved again and for clocks
 * that are set back. No node has to be the leader, and none that dies leaves anything behind.
 *
 * <p>Only programs know cron expressions; the database compares times. So a job whose expression a node does not understand, as
 * in a rolling deploy, is put off for ten minutes with the reason; a node that understands it then takes what was missed, by the
 * job's rule for misfires.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>A timer is pending, claimed by one owner, or gone; if its cancellation returned true, it is never delivered.
 *   <li>A timer that is due becomes one message, whatever number of nodes look for it and whenever they die.
 *   <li>A tick of a job becomes one run at most, and exactly one where its rules do not skip it.
 *   <li>A run ends in the transaction that ends its message, with the same outcome.
 *   <li>A job that cannot be planned says why, and does not hold up the others.
 * </ul>
 *
 * <h2>What it does not promise</h2>
 *
 * <p>Handlers see a message at least once, as with every message. A timer fires at its time or later, never earlier, by the
 * database's clock.
 */
@NullMarked
package dev.windlass.schedule;

import org.jspecify.annotations.NullMarked;
