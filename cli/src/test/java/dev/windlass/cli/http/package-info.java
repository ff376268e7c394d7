@NullMarked
package dev.windlass.cli.http;

import org.jspecify.annotations.NullMarked;
