package dev.windlass.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.cli.demo.Demo;
import dev.windlass.cli.demo.Shop;
import dev.windlass.cli.http.NodeServer;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.metrics.WindlassMetrics;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.work.WorkOptions;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Runs a node, with a PostgreSQL of its own when no database is given, until it is told to stop. */
@Command(
        name = "serve",
        description = "Run a node; without --url on a PostgreSQL of its own, which is kept in a directory.")
final class ServeCommand implements Callable<Integer> {
    private static final int CHECK_MILLIS = 1_000;

    /** Progress is stored when a lease is renewed: short, so that it is seen to move. */
    private static final Duration DEMO_LEASE = Duration.ofSeconds(6);

    private final Lifetime lifetime = new Lifetime();
    private final AtomicBoolean stopped = new AtomicBoolean();

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private WindlassCommand root;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Option(names = "--demo", description = "Add a small shop that places orders, and show what happens to them.")
    private boolean demo;

    @Option(
            names = "--no-hand-off",
            description = "Leave due timers and runs of jobs to programs that claim them themselves.")
    private boolean noHandOff;

    @Mixin
    private NodeOptions node = new NodeOptions();

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Where the PostgreSQL of its own keeps its data (default: .windlass).")
    private @Nullable Path data;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            converter = PortNumber.class,
            description = "Its port (default: that of the last time, or any free one).")
    private @Nullable Integer port;

    @Mixin
    private RetentionOptions retention = new RetentionOptions();

    @Mixin
    private HttpOptions http = new HttpOptions();

    @Override
    public Integer call() throws Exception {
        Optional<Target> given = given();
        Thread hook = new Thread(this::endJvm, "windlass-stop");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            serve(given);
        } catch (InterruptedException | Lifetime.Ended e) {
            // Told to stop, which is what happens next.
        } catch (Exception e) {
            // A terminal's Ctrl-C also reaches the programs that a start has just called; that they fail is no news
            // then.
            if (!lifetime.isEnding()) {
                lifetime.close();
                forget(hook);
                throw e;
            }
        }
        stop();
        forget(hook);
        return 0;
    }

    private Optional<Target> given() {
        boolean own = isOwn();
        Optional<Target> given = database.target(spec, own ? Map.of() : root.environment());
        if (given.isEmpty() && database.hasLoginOption()) {
            throw wrongUse("expected --url beside --user and --password, got none");
        }
        return given;
    }

    /** Options are stronger than variables; two that contradict each other on one level are refused. */
    private boolean isOwn() {
        boolean named = data != null || port != null;
        boolean said = isSaid("--data") || isSaid("--port");
        if (said && database.hasUrlOption()) {
            throw wrongUse("expected --url, or --data and --port for a PostgreSQL of its own, got both");
        }
        if (named
                && !said
                && !database.hasUrlOption()
                && Variables.value(root.environment(), "WINDLASS_URL").isPresent()) {
            throw wrongUse("expected the variable WINDLASS_URL, or WINDLASS_DATA and WINDLASS_PORT for a PostgreSQL of"
                    + " its own, got both");
        }
        return said || (named && !database.hasUrlOption());
    }

    private boolean isSaid(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private ParameterException wrongUse(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private void serve(Optional<Target> given) throws Exception {
        if (given.isPresent()) {
            given.get().check();
            try {
                run(given.get(), "given by you", Optional.empty());
            } catch (WindlassException e) {
                throw CommandFailure.ofMigration(e, given.get());
            }
            await(() -> {});
        } else {
            OwnServer server = ownServer();
            run(
                    server.target(),
                    "PostgreSQL of its own, data in " + server.directory(),
                    Optional.of(server.passwordFile().toString()));
            await(server::check);
        }
    }

    private OwnServer ownServer() throws Exception {
        Path directory =
                (data == null ? Path.of(".windlass") : data).toAbsolutePath().normalize();
        say("starting PostgreSQL on %s ...", directory);
        return lifetime.start(() -> OwnServer.start(directory, port == null ? 0 : port));
    }

    private void run(Target target, String origin, Optional<String> passwordFile) throws Exception {
        PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        HikariDataSource pool = lifetime.start(() -> pool(target, metrics));
        WindlassBuilder builder = describe(schema.on(pool)).listener(new WindlassMetrics(metrics));
        Shop shop = new Shop(pool, schema.qualifiedName("demo_orders"));
        if (demo) {
            say("creating table %s for the demo, if it is not there ...", schema.qualifiedName("demo_orders"));
            shop.addHandlers(builder);
        }
        Windlass windlass = lifetime.start(builder::build);
        // It answers until the node has ended: that it is not ready any more, and what it settles in the end.
        Optional<NodeServer> answering = http.start(lifetime, windlass.health(), metrics);
        start(windlass, builder);
        sayReady(
                target,
                origin,
                http.told(answering),
                passwordFile.map(file -> "in the file " + file).orElse("as you gave it"));
        if (demo) {
            TryNext next = TryNext.on(target, passwordFile, Invocation.words(root.environment()), schema.words(spec));
            lifetime.start(() -> Demo.start(windlass, shop, pool, schema.qualified(""), screen(windlass, pool, next)));
        }
    }

    private void start(Windlass windlass, WindlassBuilder builder) throws Exception {
        if (!builder.migrator().pendingSql().isEmpty()) {
            say("creating or upgrading table %s with its indexes and routines ...", schema.qualified(""));
        }
        lifetime.start(windlass::start);
        windlass.workQueue(); // who has asked for one of these looks after it
        windlass.inbox();
    }

    private WindlassBuilder describe(WindlassBuilder builder) {
        return builder.options(options())
                .ensureSchema()
                .outbox(retention.of(OutboxOptions.defaults().withTableName(schema.table)))
                .inbox(retention.of(InboxOptions.defaults().withTableName(schema.inboxTable)))
                .work(work())
                .schedule(retention.of(ScheduleOptions.defaults().withHandOff(!noHandOff)));
    }

    private WorkOptions work() {
        WorkOptions options = retention.of(WorkOptions.defaults().withTableName(schema.workTable));
        return demo ? options.withLease(DEMO_LEASE) : options;
    }

    private WindlassOptions options() {
        return node.of(WindlassOptions.defaults().withSchemaName(schema.schema));
    }

    /** On a terminal a picture that is drawn anew, elsewhere a line for each second. */
    private Consumer<String> screen(Windlass windlass, DataSource pool, TryNext next) {
        if (root.terminal().isThere()) {
            return new DemoScreen(pool, schema, windlass.outbox().operator("windlass"), next, root::page)::show;
        }
        next.lines(Optional.empty()).forEach(line -> say("%s", line));
        say("");
        return line -> say("%s", line);
    }

    private HikariDataSource pool(Target target, PrometheusMeterRegistry metrics) {
        HikariConfig config = new HikariConfig();
        config.setMetricRegistry(metrics);
        config.setPoolName("windlass");
        config.setDataSource(target.dataSource());
        config.setMaximumPoolSize(node.connections());
        config.setMinimumIdle(1);
        config.setConnectionTimeout(5_000);
        return new HikariDataSource(config);
    }

    private void sayReady(Target target, String origin, String http, String password) throws IOException {
        say(
                """

                Windlass %s is ready

                  database  %s
                  url       %s
                  user      %s
                  password  %s
                  schema    %s
                  node      %s, with %s
                  http      %s

                Stop it with Ctrl-C; the data stays.
                """,
                Version.number(),
                origin,
                Secrets.mask(target.url()),
                target.userName(),
                password,
                schema.schema,
                options().nodeName(),
                (demo ? "the handlers of the demo" : "no handlers")
                        + (noHandOff ? "" : ", due timers and jobs")
                        + ", and the upkeep of the tables",
                http);
    }

    private void await(Runnable check) throws InterruptedException {
        while (!lifetime.awaitEnding(CHECK_MILLIS)) {
            check.run();
        }
    }

    /**
     * Hooks run all at once, and the JVM ends after the last: so this one closes everything itself, in order. It ends the JVM
     * with success, because a stop that was asked for and went well is one; otherwise it would be 143 after a SIGTERM.
     */
    private void endJvm() {
        stop();
        Runtime.getRuntime().halt(0);
    }

    /** Whoever comes second waits for the first. */
    private synchronized void stop() {
        if (stopped.compareAndSet(false, true)) {
            say(
                    "stopping, running handlers may finish for up to %s ...",
                    Span.of(options().shutdownGrace()));
            lifetime.close();
            say("stopped");
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending, and the hook has called stop, or waits to.
        }
    }

    private void say(String format, Object... arguments) {
        spec.commandLine().getOut().printf(format + "%n", arguments);
        spec.commandLine().getOut().flush();
    }
}
