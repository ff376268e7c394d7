/**
 * The command line: one class for each command, and what they share.
 *
 * <p>What a command was asked for goes to stdout, everything else to stderr. Exit codes: 0 done, 1 it did not work, 2 it was
 * asked in the wrong way. A failure is one sentence (what was tried, what came, what to do); the stack trace only comes with
 * {@code --verbose}. Passwords are never printed, and URLs only through {@link dev.windlass.cli.Secrets}.
 */
@NullMarked
package dev.windlass.cli;

import org.jspecify.annotations.NullMarked;
