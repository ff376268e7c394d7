package dev.windlass.cli;

/** Says how many of the messages that were asked for could be changed. */
final class Fitting {

    private Fitting() {}

    /** Returns the exit code: something was done, or it is a failure. */
    static int report(OutboxSession session, String participle, String misfits, int asked, int changed) {
        String why = misfits + "; 'windlass outbox show ID' tells";
        if (changed == 0) {
            throw new CommandFailure("%s none of %s: %s".formatted(participle, messages(asked), why));
        }
        if (changed == asked) {
            session.out().printf("%s %s%n", participle, messages(changed));
        } else {
            session.out().printf("%s %d of %s; as for the rest: %s%n", participle, changed, messages(asked), why);
        }
        return 0;
    }

    private static String messages(int count) {
        return count == 1 ? "1 message" : count + " messages";
    }
}
