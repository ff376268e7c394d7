@NullMarked
package dev.windlass.embedded;

import org.jspecify.annotations.NullMarked;
