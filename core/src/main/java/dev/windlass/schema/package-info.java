/**
 * Brings Windlass's part of the database up to date, and tells whether it is.
 *
 * <p>A {@code Component} (the outbox, say) has one version number and a list of SQL files, each with the
 * version in which it was added or last changed. From version {@code v} of the database, the files newer than {@code v} are
 * run in order. Table files never change once released; routine files hold the whole current text of their routines and move
 * up to a new version when they are edited. So the folder can be read as it is, and every database takes the same way.
 *
 * <p>Invariants: one migrator at a time (a lock in the database); all of a migration or nothing (one transaction); forward
 * only. An older program on a newer database changes nothing and runs, unless the database's {@code min_compatible} is above
 * the program's version. A routine gets new parameters only at the end and with defaults, and new result columns only at the
 * end; one that changes otherwise gets a new name, and the old one stays for two releases. That is what makes a rolling deploy
 * work in both directions.
 */
@NullMarked
package dev.windlass.schema;

import org.jspecify.annotations.NullMarked;
