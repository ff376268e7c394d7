package dev.windlass.cli;

import java.sql.Connection;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/** Changes what has not ended, most of it only as long as nobody has claimed it, in one transaction, so that a failure leaves all as they were. */
abstract class UnclaimedChange implements Callable<Integer> {

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private OfQueue above;

    @Mixin
    private OutboxAccess access = new OutboxAccess();

    @Mixin
    private Names names = new Names();

    /** Changes one, if it can be changed. */
    @FunctionalInterface
    interface Change<I> {
        boolean apply(Connection connection, I name);
    }

    abstract <I> Change<I> change(WorkQueue<I, ?> queue, OutboxSession session);

    abstract String participle();

    /** What may be the matter with those that were not changed. */
    abstract String misfits(WorkQueue<?, ?> queue);

    /** Refuses options that do not fit together, before anything is looked at. */
    void check(OutboxAccess access) {}

    /** Says more of what was done. */
    void done(OutboxSession session) {}

    @Override
    public final Integer call() throws Exception {
        names.require(access, above.queue());
        check(access);
        return access.with(session -> change(session, above.queue()));
    }

    private <I> int change(OutboxSession session, WorkQueue<I, ?> queue) throws Exception {
        List<I> named = names.in(session, queue);
        Change<I> change = change(queue, session);
        int changed = session.windlass().inTransaction(connection -> {
            int count = 0;
            for (I name : named) {
                count += change.apply(connection, name) ? 1 : 0;
            }
            return count;
        });
        if (changed == 0 && named.size() == 1) {
            queue.refuse(session, named.get(0));
        }
        int exitCode = queue.report(session, participle(), misfits(queue), named.size(), changed);
        done(session);
        return exitCode;
    }
}
