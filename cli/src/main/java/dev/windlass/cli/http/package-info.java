/** What a node answers over HTTP: how it is, and its metrics. */
@NullMarked
package dev.windlass.cli.http;

import org.jspecify.annotations.NullMarked;
