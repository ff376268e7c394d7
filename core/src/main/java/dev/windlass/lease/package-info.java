/**
 * Leases: names that one node at a time holds, permits that a fixed number of nodes hold, and leaders.
 *
 * <h2>States</h2>
 *
 * <p>In the database a lease is <em>free</em> or <em>held</em>. It is held while it has a holder and the database's clock has not
 * passed its expiry; nobody has to sweep what has run out. {@link dev.windlass.lease.Leases#tryAcquire} takes a free one,
 * renewal moves the expiry of one that is still held, closing takes the holder away. The holder is a random number for each
 * acquisition, not the name of a node: a renewal or release that comes late, after somebody else has taken the lease, finds
 * nothing to change, also if that somebody is the same node.
 *
 * <p>What has run out by the clock may be renewed at that moment by a transaction that commits later. So the row decides: whoever
 * renews locks it before reading the clock, whoever takes what has run out locks it too, and a row that is locked is not free. For
 * permits this means that rows with a holder are counted, whatever the clock says, and that a permit which has run out counts until
 * somebody has locked its row and taken it.
 *
 * <p>In the program a {@link dev.windlass.lease.Lease} is <em>held</em>, then <em>lost</em> or <em>closed</em>, and never held
 * again.
 *
 * <h2>Who may believe what, and when</h2>
 *
 * <p>The database knows. A holder believes for as long as its {@code TrustWindow} is open: for the duration of
 * the lease, counted from before the request was sent that was granted. The database counts from a later moment, so a holder
 * stops believing before the lease can go to somebody else, as long as both clocks run at about the same speed and nobody sets
 * the database's clock forward.
 *
 * <p>The window closes when the monotonic or the wall clock says so. Either alone can be wrong: the monotonic clock may stand
 * still while a machine is suspended, the wall clock can be set. Wrong by standing still or by being set back means to believe for too
 * long; for that, both would have to be wrong at once. Wrong by being set forward means to stop believing too early, which
 * costs a lease and nothing else: nobody gets it before it runs out or is closed. Waiting and renewing follow the monotonic clock
 * alone, so no wall clock delays a renewal.
 *
 * <p>To believe is not to know. Between the question and the deed, a process can stand still for longer than the window is
 * open, and a write can be under way for longer. Only the {@linkplain dev.windlass.lease.Lease#fencingToken fencing token} covers
 * that: whatever is written to compares it, and refuses one smaller than it has seen.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>A lease has at most one holder, a semaphore at most as many as the one who takes a permit says, at every moment of the
 *       database's clock.
 *   <li>The token grows with every change of holder. It comes from a sequence, taken while the row is locked, and so it survives the
 *       release, the expiry and the deletion of the row.
 *   <li>One renewal that fails is not a lost lease. It is lost when a renewal is refused or the window has closed.
 *   <li>Taking, renewing and giving back a lease waits for nobody's transaction: what somebody has locked is left out, and asked
 *       for again. Permits of one semaphore are taken one after another, since they are counted; whoever cannot begin to count
 *       within a second is told to come again.
 *   <li>However late a transaction commits, there are not more holders than there may be.
 *   <li>A node that uses no leases sends no statement, opens no connection and starts no loop for them.
 * </ul>
 *
 * <h2>Parts</h2>
 *
 * <p>The {@code Acquirer} asks for leases; those who wait stand in {@code WaitingLines} and are
 * woken in the {@code WaitingRoom}. The {@code LeaseRunner} renews what is held, all that is
 * due in one call on a connection of its own, and tells holders what they have lost. The
 * {@code Releaser} gives back what is closed. A {@code LeaderCandidate} stands for leader. None of them is a thread; only the work of a leader has one.
 *
 * <h2>Failure</h2>
 *
 * <p>A process that dies leaves a lease that runs out; whoever waits knows when, and looks then. A database that goes away stops
 * renewals; they are tried again quickly, and what runs out meanwhile is lost, which its holder is told without the database. A call
 * that hangs is given up together with its connection, in time for another try. A release that fails is repeated in the background
 * until the lease has run out. An acquisition whose answer is lost is repeated, and gets the same lease by the same holder. A notification that is lost costs time, since whoever waits also looks
 * by himself.
 *
 * <p>A closing node asks work under its leases to stop, keeps these leases while the work does, and then gives them back; work that
 * does not stop keeps its lease until it runs out. Leases held without such work are given back at once.
 */
@NullMarked
package dev.windlass.lease;

import org.jspecify.annotations.NullMarked;
