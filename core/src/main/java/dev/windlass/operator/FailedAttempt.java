package dev.windlass.operator;

import java.time.Instant;
import java.util.Optional;

/**
 * An attempt to handle a message that failed, or whose lease ran out.
 *
 * @param attempt counts from one, and again from one after a requeue that reset it
 * @param node where it failed; unknown when a lease ran out
 * @param error at most 2,048 characters of it
 */
public record FailedAttempt(Instant at, int attempt, Optional<String> node, Optional<String> error) {}
