@NullMarked
package dev.windlass.spring;

import org.jspecify.annotations.NullMarked;
