@NullMarked
package dev.windlass.spring.elsewhere;

import org.jspecify.annotations.NullMarked;
