@NullMarked
package dev.windlass.spring.test;

import org.jspecify.annotations.NullMarked;
