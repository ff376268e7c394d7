package dev.windlass.cli;

/** What can be told of a store, the worst first. */
enum StoreCondition {
    UNREACHABLE("unreachable"),
    UNREADABLE("unreadable"),
    TOO_NEW("newer than this program"),
    NO_TABLES("without tables"),
    TO_MIGRATE("to migrate"),
    UP_TO_DATE("up to date");

    private final String words;

    StoreCondition(String words) {
        this.words = words;
    }

    /** Whether it has answered, whatever it said. */
    boolean hasAnswered() {
        return this != UNREACHABLE && this != UNREADABLE;
    }

    @Override
    public String toString() {
        return words;
    }
}
