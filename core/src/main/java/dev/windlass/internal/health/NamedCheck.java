package dev.windlass.internal.health;

import dev.windlass.health.HealthCheck;

/** A check and what it is called. */
public record NamedCheck(String name, HealthCheck check) {}
