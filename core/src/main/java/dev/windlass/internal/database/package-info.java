/**
 * Internal: calls to one schema of one database, with what an engine has to bring for them ({@link
 * dev.windlass.internal.database.Dialect}). Errors leave this package without what the server quotes of rows.
 */
@NullMarked
package dev.windlass.internal.database;

import org.jspecify.annotations.NullMarked;
