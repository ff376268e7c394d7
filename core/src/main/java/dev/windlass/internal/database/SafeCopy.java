package dev.windlass.internal.database;

/** Stands for an exception that tells of an error of the database: what it says, without what that error quotes of a row. */
final class SafeCopy extends Exception {
    private static final long serialVersionUID = 1L;

    SafeCopy(Throwable original, String text) {
        super(text);
        setStackTrace(original.getStackTrace());
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // the name of the original is in the message
    public String toString() {
        return String.valueOf(getMessage());
    }
}
