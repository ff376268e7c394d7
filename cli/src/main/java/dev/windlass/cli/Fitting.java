package dev.windlass.cli;

/** Says how many of the messages that were asked for could be changed. */
final class Fitting {

    private Fitting() {}

    /** Returns the exit code: something was done, or it is a failure. */
    static int report(OutboxSession session, String participle, String misfits, int asked, int changed) {
        if (changed == 0) {
            throw new CommandFailure("%s none of %s: each is %s; look at one with 'windlass outbox show ID'"
                    .formatted(participle, messages(asked), misfits));
        }
        if (changed == asked) {
            session.out().printf("%s %s%n", participle, messages(changed));
        } else {
            session.out()
                    .printf(
                            "%s %d of %s; the rest is %s: look with 'windlass outbox show ID'%n",
                            participle, changed, messages(asked), misfits);
        }
        return 0;
    }

    static String messages(int count) {
        return count == 1 ? "1 message" : count + " messages";
    }
}
