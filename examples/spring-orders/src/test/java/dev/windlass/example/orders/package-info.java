@NullMarked
package dev.windlass.example.orders;

import org.jspecify.annotations.NullMarked;
