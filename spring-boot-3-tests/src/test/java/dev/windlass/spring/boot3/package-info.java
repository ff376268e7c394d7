@NullMarked
package dev.windlass.spring.boot3;

import org.jspecify.annotations.NullMarked;
