package dev.windlass.cli;

/** The person in front of the screen, if there is one. */
interface Terminal {

    boolean isThere();

    /** Whether the answer to a question was yes; no answer is no. */
    boolean confirms(String question);
}
