package dev.windlass.internal.queue;

import dev.windlass.base.QueueKind;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.support.Require;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds the trace in which a message is written to its headers. Tracing is users' code: what it throws, and what it returns, costs no message. */
final class WrittenTraces {
    private static final Logger log = LoggerFactory.getLogger(QueueStore.class);

    private final Database database;
    private volatile boolean saidThatItFailed;

    WrittenTraces(Database database) {
        this.database = database;
    }

    Map<String, String> written(QueueKind kind, String topic, Map<String, String> headers) {
        try {
            Map<String, String> traced = database.tracing().written(kind, topic, headers);
            return traced == headers ? headers : Require.headers(traced);
        } catch (StackOverflowError e) {
            sayThatItFailed(e);
        } catch (VirtualMachineError e) {
            throw e;
        } catch (Throwable e) {
            sayThatItFailed(e);
        }
        return headers;
    }

    private void sayThatItFailed(Throwable e) {
        if (!saidThatItFailed) {
            saidThatItFailed = true;
            log.error(
                    "[{}] tracing failed; messages are written all the same, without its context, and this is logged only once",
                    database.name(),
                    database.safe(e));
        }
    }
}
