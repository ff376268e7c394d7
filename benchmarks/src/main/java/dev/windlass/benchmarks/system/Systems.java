package dev.windlass.benchmarks.system;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** All systems, by name. */
public final class Systems {
    private static final Map<String, Function<Server, SystemUnderTest>> ALL = all();

    private Systems() {}

    private static Map<String, Function<Server, SystemUnderTest>> all() {
        Map<String, Function<Server, SystemUnderTest>> all = new LinkedHashMap<>();
        all.put("windlass", WindlassSystem::asInstalled);
        all.put("windlass-tuned", WindlassSystem::tuned);
        all.put("windlass-tuned-kept", WindlassSystem::kept);
        all.put("db-scheduler", DbSchedulerSystem::new);
        all.put("jobrunr", JobRunrSystem::new);
        all.put("quartz", QuartzSystem::new);
        all.put("transaction-outbox", TransactionOutboxSystem::new);
        return all;
    }

    public static List<String> names() {
        return List.copyOf(ALL.keySet());
    }

    public static SystemUnderTest open(String name, Server server) {
        Function<Server, SystemUnderTest> maker = ALL.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("expected one of the systems " + names() + ", got " + name);
        }
        return maker.apply(server);
    }
}
