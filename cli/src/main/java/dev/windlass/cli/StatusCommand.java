package dev.windlass.cli;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Shows what is in the outbox, topic by topic, and beside it; once, or again and again. */
@Command(
        name = "status",
        description =
                "Show how much is in which state: for each topic of the outbox, each queue of the work queue, and in the inbox; and timers and jobs.")
final class StatusCommand implements Callable<Integer> {

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

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Option(
            names = "--watch",
            arity = "0..1",
            paramLabel = "TIME",
            fallbackValue = "2s",
            converter = Distance.class,
            description = "Show it again and again, so often (default: ${FALLBACK-VALUE}), until Ctrl-C.")
    private @Nullable Duration watch;

    @Override
    public Integer call() throws InterruptedException {
        Target target = database.required(spec, root.environment());
        Status first = first(target);
        if (watch == null) {
            print(first);
        } else {
            watch(target, first, watch.isZero() ? Duration.ofSeconds(1) : watch);
        }
        return 0;
    }

    private Status first(Target target) {
        try (Connection connection = target.connect()) {
            schema.fillIn(InstalledTables.read(connection, schema), spec);
            schema.on(target.dataSource()).migrator().check();
            return Status.read(connection, schema);
        } catch (SQLException e) {
            throw unreadable(target, e);
        }
    }

    private CommandFailure unreadable(Target target, SQLException e) {
        return CommandFailure.of("read the status of schema \"" + schema.schema + "\" on " + target, e);
    }

    /** Ends with the process, or when nobody reads any more. */
    private void watch(Target target, Status first, Duration pause) throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        Refresh refresh = new Refresh(root.page(), root.terminal().isThere() && !json);
        Status status = first;
        while (true) {
            if (json) {
                print(status);
            } else {
                refresh.show(Printable.seconds(status.at()) + "  every " + Span.of(pause), status::print);
            }
            // The writer asks only itself; that the reader of a pipe has gone is known to the stream below it.
            if (out.checkError() || System.out.checkError()) {
                return;
            }
            Thread.sleep(pause.toMillis());
            status = next(target, status);
        }
    }

    /** A database that is away for a while ends nothing: what was seen last stays. */
    private Status next(Target target, Status last) {
        try (Connection connection = target.connect()) {
            return Status.read(connection, schema);
        } catch (SQLException e) {
            return complain(unreadable(target, e), last);
        } catch (CommandFailure e) {
            return complain(e, last);
        }
    }

    private Status complain(CommandFailure failure, Status last) {
        spec.commandLine().getErr().println("windlass: " + Secrets.mask(String.valueOf(failure.getMessage())));
        spec.commandLine().getErr().flush();
        return last;
    }

    private void print(Status status) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(status.json());
        } else {
            status.print(root.page());
        }
        out.flush();
    }
}
