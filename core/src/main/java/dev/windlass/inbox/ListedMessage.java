package dev.windlass.inbox;

import java.time.Instant;

/**
 * A message as it appears in a list.
 *
 * @param message without its payload
 * @param at the time of its state: when a ready message can be taken, when the attempt of one in progress began, when one ended; when
 *     it was first seen, if the list is of all states
 */
public record ListedMessage(SeenMessage message, Instant at) {}
