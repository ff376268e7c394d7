@NullMarked
package dev.windlass.schema;

import org.jspecify.annotations.NullMarked;
