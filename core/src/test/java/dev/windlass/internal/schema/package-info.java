@NullMarked
package dev.windlass.internal.schema;

import org.jspecify.annotations.NullMarked;
