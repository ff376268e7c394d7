/**
 * A small shop to look at: what {@code windlass serve --demo} adds.
 *
 * <p>Every order is written together with two messages, {@code order.placed} and {@code mail.send}, in one transaction. Some
 * mails fail on purpose, most of them for one attempt, a few for good, and every {@code fax.send} does, so that retries and dead
 * letters can be seen. Such
 * a failure is a {@link dev.windlass.cli.demo.StagedFailure}, which the log leaves out; any other failure is shown.
 *
 * <p>Some customers want a report. That takes seconds, so it is an item of the work queue: limited over all nodes, one for each
 * customer at a time, with progress and a result.
 */
@NullMarked
package dev.windlass.cli.demo;

import org.jspecify.annotations.NullMarked;
