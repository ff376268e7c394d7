@NullMarked
package dev.windlass.testkit;

import org.jspecify.annotations.NullMarked;
