package dev.windlass.internal.dispatch;

import dev.windlass.internal.database.Database;
import dev.windlass.trace.Tracing;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a handler inside of users' tracing, once, whatever the tracing does: one that throws, or does not call it, or calls it twice, costs no
 * message an attempt, and handles none twice.
 */
final class TracedWork implements Tracing.Work {
    private static final Logger log = LoggerFactory.getLogger(Tracing.class);
    private static volatile boolean told;

    private final Database database;
    private final Tracing.Work handler;
    private boolean ran;
    private @Nullable Throwable failure;

    TracedWork(Database database, Tracing.Work handler) {
        this.database = database;
        this.handler = handler;
    }

    /** What users' tracing does around a handler. */
    interface Around {
        void run(Tracing.Work handler) throws Exception;
    }

    void run(Around around) throws Exception {
        try {
            around.run(this);
        } catch (Throwable e) {
            tell(e);
        }
        if (!ran) {
            run();
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof Exception exception) {
            throw exception;
        }
    }

    /** What the handler throws goes through the tracing, which may want to know of it. */
    @Override
    public void run() throws Exception {
        if (ran) {
            return;
        }
        ran = true;
        try {
            handler.run();
        } catch (Throwable e) {
            failure = e;
            throw e;
        }
    }

    private void tell(Throwable e) {
        if (e != failure && !told) {
            told = true;
            log.error(
                    "[{}] tracing failed; messages are handled all the same, and this is logged only once",
                    database.name(),
                    database.safe(e));
        }
    }
}
