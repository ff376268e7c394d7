package dev.windlass.cli.demo;

/** A failure that belongs to the show. */
final class StagedFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StagedFailure(String message) {
        super(message);
    }
}
