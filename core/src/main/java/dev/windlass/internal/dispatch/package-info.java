/**
 * Internal: the mechanism that claims, handles and completes leased work, the same for every feature.
 *
 * <h2>Parts</h2>
 *
 * <p>A feature brings a {@link dev.windlass.internal.queue.WorkStore} (its routines) and handlers by topic; a
 * {@link dev.windlass.internal.dispatch.Dispatcher} does the rest, with a handful of {@link dev.windlass.internal.loop.Loop}s on shared
 * threads: the claimer takes what there is room for; worker threads run handlers, one message at a time each; the completer
 * writes outcomes in batches; the heart-beater renews leases on the connection that is kept; the watchdog enforces time-outs and
 * notices lost leases; maintenance reaps, expires and cleans; signals of other processes wake
 * them up.
 *
 * <p>The way of a message:
 *
 * <ol>
 *   <li>{@link dev.windlass.internal.dispatch.Capacity} says what may be claimed, and the {@link
 *       dev.windlass.internal.dispatch.Claimer} claims it. Under ordering keys, the end of a message takes the next one instead; and
 *       what this node writes itself may be {@link dev.windlass.internal.dispatch.FirstHand} from its commit on.
 *   <li>The {@link dev.windlass.internal.dispatch.Intake} decides at once of what cannot be handled. From here on all of it is {@link
 *       dev.windlass.internal.dispatch.InHand}, as an {@link dev.windlass.internal.dispatch.Attempt} each.
 *   <li>It waits in the {@link dev.windlass.internal.dispatch.TopicLane} of its topic, until {@link
 *       dev.windlass.internal.dispatch.Turns} gives it to a worker.
 *   <li>The {@link dev.windlass.internal.dispatch.HandlerRunner} runs its handler, and makes an {@link
 *       dev.windlass.internal.dispatch.Outcome} of the result.
 *   <li>The {@link dev.windlass.internal.dispatch.Completer} gathers outcomes, an {@link dev.windlass.internal.dispatch.OutcomeWriter}
 *       writes them, and the message is in hand no more. That leaves room, and the claimer goes on.
 * </ol>
 *
 * <p>What is in hand and what may be taken depend on each other, over all topics: {@link dev.windlass.internal.dispatch.Lanes} has the
 * one lock for both.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>A message is handed to a handler only after its claim has been committed, and no transaction is open meanwhile.
 *   <li>Every claim has an owner token of its own, as has all that this node writes and keeps, and every later change names it: a late outcome of a lost attempt changes
 *       nothing.
 *   <li>A message stays in hand, and its lease is renewed, until its outcome has been written or its time is up.
 *   <li>A claim that was committed is never forgotten by a living node: if its answer is lost or cannot be read, what it took is
 *       given back by its token. A message that cannot be read is in the end claimed alone, and set aside.
 *   <li>No verb waits for a row lock. It says of each message that it was changed, is lost, or is locked by somebody; what is
 *       locked is asked for again, apart from all others, and its lease goes on meanwhile.
 *   <li>What cannot be written is kept and tried again; the routines are guarded, so trying twice is harmless. That a message
 *       is lost is known only if no earlier try went without an answer.
 *   <li>One row that is refused, and one chore that fails, holds up nothing else; no error ends a loop.
 *   <li>No wall clock of this process is ever compared with the database's.
 * </ul>
 *
 * <h2>Failure</h2>
 *
 * <p>A process that dies leaves leases that run out; any node's maintenance returns them to ready and counts the expiry. A
 * database that goes away stops nothing for good: loops back off with jitter, say so once, and go on when it is back. The routine
 * that reaps knows since when nodes have been able to renew, and lets live owners come first.
 *
 * <p>A node that ends tells all its loops to stop, then waits for them together, against one deadline: the grace period and about
 * two seconds. Calls that hang are broken off at the end of the grace period, and what they were to write is tried once more on
 * other connections.
 *
 * <p>A message may be what ended its process, and most that were in hand then are innocent. So the first expiry is never held
 * against a message. From then on its start is written down before its handler runs, and only a lease that runs out after that
 * is a <em>crash</em>. A message with a crash is a <em>suspect</em>: a node has one suspect at a time between its start and its
 * written outcome, beside everything else. As many crashes as {@code maxLeaseExpiries} are the end. What that promises:
 *
 * <ul>
 *   <li>What ends its process each time is handled so many times and once more, then it has failed.
 *   <li>What was only claimed when a process died is never blamed for it, however often that happens.
 *   <li>A message fails unjustly only if its process died that often while its handler was running, each time after its start had
 *       been written down. Once it has a crash, no other suspect can be the reason: only processes that are ended from outside, or
 *       by messages that are not suspects yet, and each of those can be that twice.
 * </ul>
 *
 * <p>An attempt is held against a message only if its handler had been started. What is given back before that (a topic that
 * rests, a node that stops, a start that cannot be written down, no thread, no transaction for the handler) costs nothing.
 *
 * <h2>Sharing</h2>
 *
 * <p>Topics share a node without anybody setting limits: {@link dev.windlass.internal.dispatch.Turns} says who starts next, {@link
 * dev.windlass.internal.dispatch.Room} what may be claimed. Payloads in hand are bounded too; one whose handler has ended is let go at once,
 * while its outcome waits to be written.
 *
 * <p>A handler that fails throughout, because what it needs is down, can have a circuit: its lane
 * rests, and then starts one message at a time until one succeeds. It is closed, open or half open, and only the failures that
 * open it cost attempts. The claimer asks for nothing while a lane rests, and wakes when the rest is over. The state is this
 * node's own and is not stored: what one node cannot reach, another may.
 */
@NullMarked
package dev.windlass.internal.dispatch;

import org.jspecify.annotations.NullMarked;
