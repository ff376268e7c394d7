@NullMarked
package dev.windlass.cli.doctor;

import org.jspecify.annotations.NullMarked;
