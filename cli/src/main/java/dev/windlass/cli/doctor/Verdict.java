package dev.windlass.cli.doctor;

/** How a check came out. */
public enum Verdict {
    OK("ok"),
    /** This user may not look there. */
    UNSEEN("not seen"),
    WARNING("warning"),
    PROBLEM("problem");

    private final String words;

    Verdict(String words) {
        this.words = words;
    }

    @Override
    public String toString() {
        return words;
    }
}
