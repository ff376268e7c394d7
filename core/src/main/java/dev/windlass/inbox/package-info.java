/**
 * The inbox: remembers the messages that arrived, so that one which is delivered twice is processed once.
 *
 * <h2>Life of a message</h2>
 *
 * <p>A message is named by its source and the id it has there. As a guard, the inbox sees it when somebody
 * {@linkplain dev.windlass.inbox.Inbox#begin begins} it: it is <em>in progress</em>, with an owner token and a lease, and that is
 * committed before the work starts. The work's own transaction marks it <em>done</em>. If the work fails it is <em>ready</em> to
 * be begun again; if nobody hears of its owner until the lease has run out, whoever begins it next takes it over. Either way an
 * attempt is used up, and after the last it has <em>failed</em>, until an operator requeues or purges it.
 *
 * <p>As a queue, the inbox {@linkplain dev.windlass.inbox.Inbox#enqueue stores} a message with a topic, ready. It is then claimed,
 * handled and completed by the verbs that every queue has; a lease that ran out is reaped by any node. There are two tables: what
 * has been seen, one row for each key, and the queue. The row of a queued message in the first names its row in the second, and
 * its state stands there; the state of the others, which are never offered to handlers, stands in the first.
 *
 * <p>Both uses meet when a message that somebody has begun is enqueued. Who enqueues it acknowledges it to the sender, so it must
 * not be lost. If the attempt has failed, or its lease has run out, the queue takes the message over. While the attempt goes on,
 * or somebody has the row locked, what was brought is a copy that <em>waits</em> in the queue; with each reap a node looks at those,
 * drops them if the message has ended, and makes them ready if nobody is processing it any more. A copy that is cancelled, or
 * expires while it waits, is dropped; the message stays with who has begun it.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>The key of what has been seen decides what is new. A message is the guard's or the queue's, never both.
 *   <li>A message has a lease exactly while it is in progress, and never two owners.
 *   <li>Only the owner marks it. The mark names the token, also inside the business transaction: who has lost the message
 *       changes no row, learns of it, and rolls back. So work on the same database happens once.
 *   <li>{@link dev.windlass.inbox.Inbox#alreadyProcessed} answers true only for what has been processed. Failed is not processed.
 *   <li>No begin and no renewal waits for another transaction. A row that somebody has locked is read as it was committed; a key
 *       that somebody has written and not committed is in progress. A mark must have the row: it waits for a second, and fails.
 *   <li>An enqueue waits for another enqueue of the same new key, and for nobody else. Whatever it answers, its message is
 *       processed.
 *   <li>An arrival uses up no attempt; only beginning does.
 * </ul>
 *
 * <h2>Failure</h2>
 *
 * <table>
 *   <caption>The process dies</caption>
 *   <tr><td>before begin is committed</td><td>the inbox knows nothing; the next delivery begins the first attempt</td></tr>
 *   <tr><td>before the work's commit</td><td>the work is rolled back; the lease runs out, and the attempt is counted</td></tr>
 *   <tr><td>after the work's commit</td><td>done; the next delivery is told so</td></tr>
 * </table>
 *
 * <p>Work that lives longer than its lease: {@link dev.windlass.inbox.Inbox#process} renews it every third of a lease, on another
 * connection than the work's, up to a bound, since a thread that hangs looks like one that works. Attempts that
 * {@link dev.windlass.inbox.Inbox#begin} gave are renewed by who has them.
 *
 * <p>An answer that was lost is asked for again with the same token: begin answers as before, and a mark that was made is
 * still this owner's, because a message that has ended keeps the token of who ended it. A database that was away: a lease that
 * ran out meanwhile is not taken over in the first lease period after its start, so that owners which lived on come first.
 *
 * <h2>What it does not promise</h2>
 *
 * <p>Once only for work outside the database: a process can die between a call to elsewhere and the mark. And no memory
 * without end: after the retention a message is forgotten, and a later delivery is a new one.
 */
@NullMarked
package dev.windlass.inbox;

import org.jspecify.annotations.NullMarked;
