package dev.windlass.cli;

/** A word before commands that tells them which queue they are for. */
interface OfQueue {

    WorkQueue<?, ?> queue();
}
