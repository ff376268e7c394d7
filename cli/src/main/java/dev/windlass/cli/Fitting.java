package dev.windlass.cli;

/**
 * Says how many of those that were asked for could be changed.
 *
 * @param noun what they are
 * @param look the command that shows one
 */
record Fitting(String noun, String look) {
    static final Fitting MESSAGES = new Fitting("message", "windlass outbox show ID");
    static final Fitting TIMERS = new Fitting("timer", "windlass timers show ID");

    /** Returns the exit code: something was done, or it is a failure. */
    int report(OutboxSession session, String participle, String misfits, int asked, int changed) {
        if (changed == 0) {
            throw new CommandFailure("%s none of %s: each is %s; look at one with '%s'"
                    .formatted(participle, count(asked), misfits, look));
        }
        if (changed == asked) {
            session.out().printf("%s %s%n", participle, count(changed));
        } else {
            session.out()
                    .printf(
                            "%s %d of %s; the rest is %s: look with '%s'%n",
                            participle, changed, count(asked), misfits, look);
        }
        return 0;
    }

    String count(int count) {
        return count == 1 ? "1 " + noun : count + " " + noun + "s";
    }
}
