@NullMarked
package dev.windlass.node;

import org.jspecify.annotations.NullMarked;
