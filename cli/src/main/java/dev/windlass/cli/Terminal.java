package dev.windlass.cli;

import java.util.Optional;
import java.util.OptionalInt;

/** The person in front of the screen, if there is one. */
interface Terminal {

    /** Whether this process reads from and writes to a terminal. */
    boolean isThere();

    /** How wide it is, where that can be known. */
    OptionalInt columns();

    /** Whether the answer to a question was yes; no answer is no. */
    boolean confirms(String question);

    /** Asks on the terminal, wherever output and input go, and shows nothing of the answer. Empty if there is no terminal. */
    Optional<String> password(String prompt);
}
