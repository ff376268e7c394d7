package dev.windlass.inbox;

import java.util.UUID;

/** A claimed message and the token it was claimed with, which a handler's own transaction needs to end it. */
record Delivery(InboxMessage message, UUID owner) {}
