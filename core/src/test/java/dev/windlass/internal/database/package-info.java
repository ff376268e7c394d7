@NullMarked
package dev.windlass.internal.database;

import org.jspecify.annotations.NullMarked;
