package dev.windlass;

import dev.windlass.base.Feature;
import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.PoolTimeout;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.schema.Migrator;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a node: it finds or makes its schema, begins to work, and saves the jobs that the program brings along.
 *
 * <p>A schema that is missing or does not fit is an error at once. A database that is away is waited for, by a loop.
 */
final class Starting {
    private static final Logger log = LoggerFactory.getLogger(Windlass.class);
    private static final Duration JOBS_AGAIN = Duration.ofSeconds(1);
    private static final int MOST_NAMED = 20;

    private final FeatureNodes nodes;
    private final Database database;
    private final Migrator migrator;
    private final boolean ensureSchema;
    private final boolean backgroundWorkers;
    private final String nodeName;
    private final Loop loop;
    private volatile boolean jobsLate;
    private volatile boolean begun;
    private volatile boolean ended;

    Starting(WindlassBuilder builder, FeatureNodes nodes) {
        this.nodes = nodes;
        this.database = nodes.database;
        this.migrator = builder.migrator(database.givingUpLogins(Node.LONGEST_LOGIN));
        this.ensureSchema = builder.ensureSchema || builder.options.ensureSchema();
        this.backgroundWorkers = builder.options.backgroundWorkers();
        this.nodeName = builder.options.nodeName();
        this.loop = new Loop("[" + database.name() + "] starting", nodes.node.workers(), this::start);
    }

    /**
     * Starts now, or later.
     *
     * @throws RuntimeException if it will never start
     */
    void run() {
        try {
            if (!start().equals(Loop.PARKED)) {
                loop.start();
            }
        } catch (SQLException | WindlassException e) {
            startLater(e);
        }
    }

    private void startLater(Exception e) {
        Throwable error = e instanceof SQLException ? e : e.getCause();
        if (!(error instanceof SQLException sql) || !database.dialect().isTransient(sql)) {
            throw e instanceof WindlassException known ? known : database.failure("start", (SQLException) e);
        }
        if (PoolTimeout.is(sql)) {
            log.warn("[{}] starting later: {}", database.name(), database.describe(sql));
        } else {
            log.warn("[{}] starting when the database is back", database.name());
        }
        loop.start();
    }

    /** Nothing of a node that has begun waits for its jobs, which somebody may have locked. Returns when to go on. */
    private Duration start() throws SQLException {
        if (!begun) {
            beginNode();
        }
        return ended || !nodes.has(Feature.SCHEDULE) ? Loop.PARKED : bringJobs();
    }

    private void beginNode() throws SQLException {
        if (ensureSchema) {
            migrator.migrate();
        }
        migrator.check();
        if (begin()) {
            log.info(
                    "[{}] Windlass {} started as node {} on schema {}; {}",
                    database.name(),
                    version(),
                    nodeName,
                    database.schema(),
                    topics());
        }
    }

    /** Exclusive with {@link #end}: a start that took longer than the patience of close must not begin after it. */
    private synchronized boolean begin() {
        if (ended) {
            return false;
        }
        if (backgroundWorkers) {
            nodes.start();
        }
        begun = true;
        return true;
    }

    private static String version() {
        String version = Windlass.class.getPackage().getImplementationVersion();
        return version == null ? "(not from a jar)" : version;
    }

    private String topics() {
        if (!backgroundWorkers) {
            return "it only writes";
        }
        List<String> topics = nodes.dispatchers().stream()
                .flatMap(dispatcher -> dispatcher.topics().stream())
                .distinct()
                .sorted()
                .toList();
        String named = topics.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
        int others = topics.size() - MOST_NAMED;
        return topics.isEmpty()
                ? "it handles no topic"
                : "it handles " + named + (others > 0 ? " and " + others + " more topics" : "");
    }

    private Duration bringJobs() throws SQLException {
        try {
            nodes.schedule.bringJobs();
            if (jobsLate) {
                log.info("[{}] the jobs of this program have been saved", database.name());
            }
            return Loop.PARKED;
        } catch (SQLException e) {
            if (!database.dialect().isTransient(e)) {
                throw e;
            }
            if (!jobsLate) {
                log.warn(
                        "[{}] the jobs of this program could not be saved yet, trying again: {}",
                        database.name(),
                        database.describe(e));
            }
            jobsLate = true;
            return JOBS_AGAIN;
        }
    }

    Migrator migrator() {
        return migrator;
    }

    boolean isRunning() {
        return begun && !ended;
    }

    /** What has not begun by now never does. Returns whether it has. */
    synchronized boolean end() {
        ended = true;
        return begun;
    }

    Loop loop() {
        return loop;
    }
}
