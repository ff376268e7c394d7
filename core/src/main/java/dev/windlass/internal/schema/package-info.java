/**
 * Internal: the files of the schema, rendered for its tables, and what applies them.
 */
@NullMarked
package dev.windlass.internal.schema;

import org.jspecify.annotations.NullMarked;
