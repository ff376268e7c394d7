package dev.windlass.internal.work;

import dev.windlass.EngineDatabase;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkOptions;
import dev.windlass.work.WorkQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the conformance suite have in common: a node that only writes, whose items are claimed by the tests. */
abstract class WorkConformance {
    static final Duration LEASE = Duration.ofMinutes(5);

    /** So short a lease that the quiet time after the server's start is over. */
    static final WorkOptions OPTIONS = WorkOptions.defaults().withLease(Duration.ofMillis(10));

    Windlass windlass;
    WorkQueue work;

    private EngineDatabase database;

    @BeforeEach
    void startWithoutBackgroundWork(EngineDatabase database) {
        this.database = database;
        use(OPTIONS);
    }

    final EngineDatabase database() {
        return database;
    }

    final void use(WorkOptions options) {
        windlass = database.start(database.windlass()
                .options(database.options().withBackgroundWorkers(false))
                .work(options));
        work = windlass.workQueue();
    }

    static WorkEntry item(String payload) {
        return WorkEntry.of("queue", "type", payload);
    }

    /** Claims and tells the payloads, in the order in which they would run. */
    final List<String> claim(int count) {
        return payloads(claim(OwnerToken.fresh(), count));
    }

    final List<WorkItem> claim(OwnerToken owner, int count) {
        return work.claim("queue", owner, LEASE, count);
    }

    /** One after the other, each alone. */
    final List<String> claimOneByOne(int count) {
        List<String> payloads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            payloads.addAll(claim(1));
        }
        return payloads;
    }

    /** As if all that is ready had been written so much earlier. */
    final void age(Duration duration) {
        String earlier = database.plus("next_attempt_at", duration.negated());
        database.update("update %s.work set next_attempt_at = " + earlier + " where status = 0");
    }

    /** As if nobody had renewed for long. */
    final void expireLeases() {
        String earlier = database.plus("claimed_at", Duration.ofMillis(-1));
        database.update("update %s.work set locked_until = " + earlier + " where status = 1");
    }

    static List<String> payloads(Collection<WorkItem> items) {
        return items.stream().map(WorkItem::payload).toList();
    }

    static List<WorkIdentifier> ids(Collection<WorkItem> items) {
        return items.stream().map(WorkItem::id).toList();
    }

    /** Runs all at once, each on a thread of its own. */
    static <T> List<T> together(List<Callable<T>> all) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(all.size());
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> each : threads.invokeAll(all)) {
                results.add(each.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }
}
