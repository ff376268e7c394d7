/**
 * Whether a node and its database are well, for load balancers, orchestrators and people.
 *
 * <p>Three questions, see {@link dev.windlass.health.Health}. Is the process alive, so that a restart would not help? That does not depend on
 * the database: all nodes would be restarted when it goes away. Is the node ready, so that it can do its work? And how is everything, each
 * check with its finding?
 *
 * <p>To ask is cheap, however large the tables are: counts stop at the threshold they are compared with, nothing is claimed, and an answer
 * is given again for some seconds.
 */
@NullMarked
package dev.windlass.health;

import org.jspecify.annotations.NullMarked;
