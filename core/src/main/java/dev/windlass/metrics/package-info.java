/**
 * Meters for Micrometer, made of events. Needs micrometer-core, which programs that use this have.
 *
 * <pre>{@code
 * Windlass.on(dataSource).listener(new WindlassMetrics(registry)).start();
 * }</pre>
 */
@NullMarked
package dev.windlass.metrics;

import org.jspecify.annotations.NullMarked;
