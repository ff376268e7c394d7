package dev.windlass.cli;

import dev.windlass.Windlass;
import java.io.PrintWriter;
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
        target.check();
        PrintWriter out = command.commandLine().getOut();
        try (Windlass windlass = schema.passive(target.dataSource()).start()) {
            return work.run(new OutboxSession(windlass, target, out, width()));
        } catch (IllegalArgumentException e) {
            throw wrongUse(String.valueOf(e.getMessage()));
        } finally {
            out.flush();
        }
    }

    private int width() {
        return terminal().isThere() ? command.usageMessage().width() : OutboxSession.WIDTH_OF_A_FILE;
    }

    private WindlassCommand root() {
        return WindlassCommand.above(command);
    }

    Terminal terminal() {
        return root().terminal();
    }

    ParameterException wrongUse(String sentence) {
        return new ParameterException(command.commandLine(), sentence);
    }

    /** This command with other arguments on the same outbox, ready to be pasted into a shell. */
    String commandWith(List<String> arguments) {
        List<String> words = new ArrayList<>(database.words());
        words.addAll(schema.words());
        words.addAll(arguments);
        return command.qualifiedName()
                + words.stream().map(word -> " " + quoted(word)).collect(Collectors.joining());
    }

    private static String quoted(String word) {
        return word.matches("[\\w./:@=,+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
