/** Internal: what the nodes of many stores share, and which stores there are. */
@NullMarked
package dev.windlass.internal.fleet;

import org.jspecify.annotations.NullMarked;
