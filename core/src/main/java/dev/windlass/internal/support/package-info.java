/**
 * Internal: small helpers that know nothing of databases: checks of arguments, texts, identifiers.
 */
@NullMarked
package dev.windlass.internal.support;

import org.jspecify.annotations.NullMarked;
