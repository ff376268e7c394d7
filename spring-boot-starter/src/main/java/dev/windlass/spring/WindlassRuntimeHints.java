package dev.windlass.spring;

import dev.windlass.inbox.Inbox;
import dev.windlass.join.Joins;
import dev.windlass.lease.Leases;
import dev.windlass.outbox.Outbox;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Timers;
import dev.windlass.work.WorkQueue;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** What a native image has to bring along of Windlass: its SQL, and the proxies behind the beans of its features. */
final class WindlassRuntimeHints implements RuntimeHintsRegistrar {
    private static final List<Class<?>> FEATURES =
            List.of(Outbox.class, Inbox.class, WorkQueue.class, Timers.class, Jobs.class, Leases.class, Joins.class);

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("dev/windlass/**/*.sql");
        hints.reflection().registerMethod(SpringTransactions.isTransactionActive(), ExecutableMode.INVOKE);
        FEATURES.forEach(feature -> hints.proxies().registerJdkProxy(feature));
    }
}
