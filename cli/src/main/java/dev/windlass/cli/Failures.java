package dev.windlass.cli;

import dev.windlass.base.WindlassException;
import dev.windlass.embedded.EmbeddedPostgresException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one place where failures are printed, and become exit codes. */
final class Failures {

    private Failures() {}

    static int wrongUse(ParameterException wrong, String[] arguments) {
        CommandLine command = wrong.getCommandLine();
        CommandSpec spec = command.getCommandSpec();
        print(command, Printable.line(sentence(wrong) + Variables.origin(wrong, arguments)));
        command.getErr().println("Try '" + spec.qualifiedName() + " --help'.");
        command.getErr().flush();
        return spec.exitCodeOnInvalidInput();
    }

    private static String sentence(ParameterException wrong) {
        return wrong instanceof UnmatchedArgumentException unmatched
                        && !unmatched.getUnmatched().isEmpty()
                ? sentence(unmatched)
                : String.valueOf(wrong.getMessage());
    }

    /** An option or a word that is none here, and what may have been meant. */
    private static String sentence(UnmatchedArgumentException wrong) {
        CommandSpec spec = wrong.getCommandLine().getCommandSpec();
        String word = wrong.getUnmatched().get(0);
        String expected = wrong.isUnknownOption()
                ? "expected an option of '" + spec.qualifiedName() + "', got '" + word + "'"
                : CommandGroup.unknown(spec, word);
        return expected
                + wrong.getSuggestions().stream()
                        .findFirst()
                        .map(meant -> "; did you mean '" + meant + "'?")
                        .orElse("");
    }

    static int report(Exception thrown, CommandLine command, WindlassCommand root) {
        Exception failure = known(thrown, command);
        print(command, Printable.lines(sentence(failure)));
        if (root.isVerbose()) {
            StringWriter trace = new StringWriter();
            CommandFailure.safe(failure).printStackTrace(new PrintWriter(trace, true));
            command.getErr().println(Secrets.mask(trace.toString()));
        }
        command.getErr().flush();
        return command.getCommandSpec().exitCodeOnExecutionException();
    }

    private static Exception known(Exception thrown, CommandLine command) {
        if (thrown instanceof SQLException e) {
            return CommandFailure.of("run '" + command.getCommandSpec().qualifiedName() + "'", e);
        }
        return thrown instanceof WindlassException e ? CommandFailure.of(e) : thrown;
    }

    private static String sentence(Exception failure) {
        return failure instanceof CommandFailure || failure instanceof EmbeddedPostgresException
                ? String.valueOf(failure.getMessage())
                : "something went wrong that was not expected: " + CommandFailure.safe(failure)
                        + "; run it again with --verbose for the stack trace";
    }

    private static void print(CommandLine command, String sentence) {
        command.getErr().println("windlass: " + Secrets.mask(sentence));
    }
}
