package dev.windlass.operator;

import java.time.Instant;
import java.util.Optional;

/** A topic that is not claimed, on any node, until it is resumed. */
public record PausedTopic(String topic, Instant since, String by, Optional<String> reason) {}
