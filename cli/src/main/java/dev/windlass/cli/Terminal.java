package dev.windlass.cli;

import java.util.Optional;

/** The person in front of the screen, if there is one. */
interface Terminal {

    /** Whether this process reads from and writes to a terminal. */
    boolean isThere();

    /** Whether the answer to a question was yes; no answer is no. */
    boolean confirms(String question);

    /** Asks on the terminal, wherever output and input go, and shows nothing of the answer. Empty if there is no terminal. */
    Optional<String> password(String prompt);
}
