package dev.windlass.join;

import java.util.Optional;
import java.util.UUID;

/**
 * A step of a join.
 *
 * @param id that of the message, or what a report has named it
 * @param queue the table of the message; empty if it was reported
 * @param status pending, completed or failed
 */
public record JoinMember(UUID id, Optional<String> queue, JoinStatus status) {}
