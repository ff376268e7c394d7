/**
 * Internal: what runs in the background, and what wakes it up: loops on shared threads, kept connections, notifications.
 */
@NullMarked
package dev.windlass.internal.loop;

import org.jspecify.annotations.NullMarked;
