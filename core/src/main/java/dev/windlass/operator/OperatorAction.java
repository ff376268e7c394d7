package dev.windlass.operator;

import java.time.Instant;

/**
 * Something an operator did.
 *
 * @param number grows with every action
 * @param verb one of requeue, purge, skip, erase, pause, resume; of jobs, pause job, resume job, trigger job, delete job
 * @param detail what was asked, as a JSON object: a filter, or the first hundred ids
 * @param messages how many messages it changed
 */
public record OperatorAction(long number, Instant at, String by, String verb, String detail, int messages) {}
