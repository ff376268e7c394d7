/**
 * Cron expressions: when a job runs, in the local time of its zone. Knows nothing of jobs; uses nothing of the other packages.
 *
 * <h2>What can be written</h2>
 *
 * <p>Five fields, or six with the second in front; without it, the second is 0. Letters can be small or capital.
 *
 * <pre>
 * second         0-59
 * minute         0-59
 * hour           0-23
 * day of month   1-31              also L, L-3, LW, 15W, ?
 * month          1-12, JAN-DEC
 * day of week    0-7, MON-SUN      also FRIL, FRI#3, ?; 0 and 7 are Sunday, as in cron, not 1 as in Quartz
 * </pre>
 *
 * <p>In each field: a value, a range {@code a-b}, steps {@code *}{@code /n}, {@code a/n} (to the field's end) and {@code a-b/n}, a
 * list of these with commas, or {@code *}. A range goes up; only a range of days can end with Sunday. {@code L} is the last day
 * of the month, {@code L-3} three days before it, {@code LW} the last day from Monday to Friday, {@code 15W} the one nearest to the
 * 15th in the same month; {@code FRIL} is the last Friday and {@code FRI#3} the third. A month that has no such day is passed
 * over. Macros: {@code @yearly}, {@code @annually}, {@code @monthly}, {@code @weekly}, {@code @daily}, {@code @midnight},
 * {@code @hourly}.
 *
 * <p>When both day fields say something, a date matches if either does. {@code ?} in one of them takes it out. A field with a
 * {@code *} in it, be it {@code *}{@code /2}, does not count as saying something on its own: then both have to match. This is
 * Vixie cron's rule.
 *
 * <p>An expression that no date can match is refused, by looking through 28 years that have each of the fourteen calendars
 * there are. So an accepted one always has a next run, within the years 1 to 9999.
 *
 * <h2>When clocks are changed</h2>
 *
 * <p>There are two kinds of expressions. One that says how often is an <em>interval</em>; one that says when is a <em>fixed
 * time</em>. An expression is an interval if its minute has a {@code *} or steps, or its hour has a {@code *}, steps or a range,
 * and the field matches more than one value. Everything else is a fixed time: plain values and lists of them, a range of
 * minutes in a given hour. The second and the dates play no part. Vixie cron looks for a {@code *} in the same two fields: steps
 * without one and ranges of hours are fixed times to it, and {@code *} with steps is an interval, however few values they leave.
 *
 * <p><b>An interval follows real time.</b> It runs at every moment at which the clock shows a time that matches. In an overlap,
 * the repeated hour has its runs like every other; in a gap there is no time, and so no run. Every half hour stays every half
 * hour. Every two hours pauses for three around a gap of one hour, since the even hour in it is not shown and the next is, and
 * nothing is run later instead.
 *
 * <p><b>A fixed time runs once.</b> Each local time counts once: when the clock shows it for the first time, or when the clock
 * jumps over it. In an overlap that is the first of the two. A time in a gap runs as much later as the gap is long, at the moment
 * at which it would have been without the change: 02:30 at 03:30. Not right after the gap, as with Vixie cron, where all that was
 * skipped falls together: two times that are some minutes apart stay so. Where such a run meets another of the same expression,
 * there is one run.
 *
 * <ul>
 *   <li>The length of the change is of no importance. Lord Howe's clocks move by half an hour, so 02:15 runs at 02:45.
 *   <li>A gap at midnight: 00:00 runs at 01:00, on the same date.
 *   <li>A date that is left out, as 30 December 2011 in Samoa, is a gap of 24 hours. A daily job has one run less, as its
 *       run of that date meets that of the next. One for 30 December alone runs on the 31st. Vixie cron takes a change of more
 *       than three hours for a correction of the clock, and loses the run.
 *   <li>A clock that goes back shortly after it has jumped shows skipped times after all; they have counted. No two
 *       changes of any zone are less than three days apart today, but the rule holds for them too.
 *   <li>Seconds: {@code 0,30 30 2 * * *} is a fixed time; both runs of it move.
 * </ul>
 *
 * <h2>How runs are found</h2>
 *
 * <p>A {@link dev.windlass.cron.Stretch} of local times has one offset; inside it, the search is arithmetic on bits. A {@link
 * dev.windlass.cron.Timeline} goes from one change of the offset to the next, and asks the stretches that each begins: the local
 * times shown from then on, and for fixed times those that were skipped, with the offset from before. What has been shown before
 * is cut off. No step is made minute by minute or day by day, so that the next 29 February on a Sunday takes as many steps as
 * there are months.
 */
@NullMarked
package dev.windlass.cron;

import org.jspecify.annotations.NullMarked;
