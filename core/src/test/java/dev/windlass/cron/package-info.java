@NullMarked
package dev.windlass.cron;

import org.jspecify.annotations.NullMarked;
