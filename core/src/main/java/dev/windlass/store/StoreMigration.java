package dev.windlass.store;

import java.time.Duration;
import java.util.Optional;

/**
 * What became of the schema of one store.
 *
 * @param number it was the so-and-so-many-th to end
 * @param of how many there are
 * @param problem why it could not be brought up to date, without what a database may quote
 */
public record StoreMigration(String id, int number, int of, Duration took, Optional<String> problem) {}
