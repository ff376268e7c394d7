/**
 * What all features share: options, what handlers can ask and say, how payloads are written, and the exceptions.
 */
@NullMarked
package dev.windlass.base;

import org.jspecify.annotations.NullMarked;
