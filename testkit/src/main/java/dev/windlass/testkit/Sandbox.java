package dev.windlass.testkit;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxOptions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A schema of its own for one test class, and the nodes that were started on it. */
final class Sandbox implements AutoCloseable {
    private static final int READABLE_PART = 24;

    private final DataSource dataSource;
    private final Runnable afterClose;
    private final OutboxOptions outbox;
    private final String schema;
    private final Workbench workbench;
    private final Deque<Windlass> ofClass = new ArrayDeque<>();
    private final Deque<Windlass> ofTest = new ArrayDeque<>();
    private @Nullable Windlass reader;
    private boolean inTest;

    Sandbox(DataSource dataSource, Runnable afterClose, OutboxOptions outbox, Class<?> test) {
        this.dataSource = dataSource;
        this.afterClose = afterClose;
        this.outbox = outbox;
        this.schema = schemaFor(test);
        this.workbench = new Workbench(dataSource, schema, outbox.tableName(), this::reader);
        windlass().migrator().migrate();
    }

    /** Readable, and unlike that of another JVM which runs the same class on the same database. */
    private static String schemaFor(Class<?> test) {
        String name = test.getSimpleName().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "_");
        String random = UUID.randomUUID().toString().substring(0, 8);
        return "t_" + name.substring(0, Math.min(name.length(), READABLE_PART)) + "_" + random;
    }

    DataSource dataSource() {
        return dataSource;
    }

    String schema() {
        return schema;
    }

    /** Polls often instead of listening: ending a subscription takes up to a quarter of a second, in every test. */
    WindlassOptions options() {
        return WindlassOptions.defaults()
                .withSchemaName(schema)
                .withMaxPollingInterval(Duration.ofMillis(50))
                .withWakeUp(false)
                .withShutdownGrace(Duration.ofSeconds(1));
    }

    WindlassBuilder windlass() {
        return Windlass.on(dataSource).name(schema).options(options()).outbox(outbox);
    }

    synchronized Windlass start(WindlassBuilder builder) {
        Windlass node = builder.start();
        (inTest ? ofTest : ofClass).push(node);
        return node;
    }

    Workbench workbench() {
        return workbench;
    }

    private synchronized Outbox reader() {
        if (reader == null) {
            reader = windlass().options(options().withBackgroundWorkers(false)).start();
            ofClass.push(reader);
        }
        return reader.outbox();
    }

    synchronized void beginTest() {
        inTest = true;
    }

    synchronized void endTest() {
        inTest = false;
        closeAll(ofTest);
        workbench.emptyAll();
    }

    @Override
    public synchronized void close() {
        closeAll(ofTest);
        closeAll(ofClass);
        try {
            Sql.inTransaction(dataSource, "drop schema " + schema, connection -> {
                Sql.execute(connection, "drop schema \"" + schema + "\" cascade");
                return true;
            });
        } finally {
            afterClose.run();
        }
    }

    private static void closeAll(Deque<Windlass> nodes) {
        while (!nodes.isEmpty()) {
            nodes.pop().close();
        }
    }
}
