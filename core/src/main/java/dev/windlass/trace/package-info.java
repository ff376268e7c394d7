/**
 * Joins what writes a message with what handles it, in another process perhaps: the context of a trace travels in the headers, as W3C has
 * it, and the handler's span goes on with it.
 *
 * <p>{@link dev.windlass.trace.ObservationTracing} does it by Micrometer's observations, behind which OpenTelemetry or Brave can be. It needs
 * micrometer-observation, which programs that use it have.
 */
@NullMarked
package dev.windlass.trace;

import org.jspecify.annotations.NullMarked;
