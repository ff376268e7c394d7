package dev.windlass.cli;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which outbox a command works on, and the way there. */
final class OutboxAccess {

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private SchemaOptions schema = new SchemaOptions();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec command;

    /** What a command does there; its result is the exit code. */
    @FunctionalInterface
    interface Work {
        int run(OutboxSession session) throws Exception;
    }

    int with(Work work) throws Exception {
        Target target = database.required(command, root().environment());
        fillIn(target);
        PrintWriter out = command.commandLine().getOut();
        try (Windlass windlass = open(target)) {
            return work.run(new OutboxSession(windlass, target, schema, root().page()));
        } catch (IllegalArgumentException e) {
            throw wrongUse(String.valueOf(e.getMessage()));
        } finally {
            out.flush();
        }
    }

    /** Also the first connection: a database that is away is waited for later, but not now. */
    private void fillIn(Target target) {
        try (Connection connection = target.connect()) {
            schema.fillIn(InstalledTables.read(connection, schema), command);
        } catch (SQLException e) {
            throw unusable(target, e);
        }
    }

    private CommandFailure unusable(Target target, SQLException e) {
        return CommandFailure.of("use schema \"" + schema.schema + "\" on " + target, e);
    }

    /** Nothing is started for those who only look and change; so a failure does not say so. */
    private Windlass open(Target target) {
        try {
            return schema.passive(target.dataSource()).start();
        } catch (WindlassException e) {
            throw CommandFailure.sqlBehind(e)
                    .map(cause -> unusable(target, cause))
                    .orElseGet(() -> CommandFailure.of(e));
        }
    }

    private WindlassCommand root() {
        return WindlassCommand.above(command);
    }

    Terminal terminal() {
        return root().terminal();
    }

    /** Beside the output: for the person, not for the next program. */
    void note(String sentence) {
        command.commandLine().getErr().println("windlass: " + sentence);
    }

    ParameterException wrongUse(String sentence) {
        return new ParameterException(command.commandLine(), sentence);
    }

    /** This command with other arguments on the same outbox, ready to be pasted into a shell. */
    String commandWith(List<String> arguments) {
        List<String> words = new ArrayList<>(database.words());
        words.addAll(schema.words(command));
        words.addAll(arguments);
        return command.qualifiedName()
                + words.stream().map(word -> " " + quoted(word)).collect(Collectors.joining());
    }

    static String quoted(String word) {
        return word.matches("[\\w./:@=,+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
