@NullMarked
package dev.windlass.example.first;

import org.jspecify.annotations.NullMarked;
