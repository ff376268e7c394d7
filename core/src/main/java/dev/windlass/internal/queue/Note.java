package dev.windlass.internal.queue;

import org.jspecify.annotations.Nullable;

/**
 * What a handler tells of its work: how far it has come, in percent and in words, and what it came to. Null where it has said nothing.
 */
public record Note(
        @Nullable Integer progress,
        @Nullable String text,
        @Nullable String result) {}
