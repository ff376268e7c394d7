@NullMarked
package dev.windlass;

import org.jspecify.annotations.NullMarked;
