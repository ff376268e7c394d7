package dev.windlass.cli;

import dev.windlass.base.WindlassException;
import dev.windlass.internal.database.Dialect;
import dev.windlass.internal.database.SafeCopies;
import dev.windlass.internal.engine.PostgresDialect;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Optional;

/** A command did not work; the message is the one sentence to print. */
final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Dialect DIALECT = new PostgresDialect();

    CommandFailure(String message) {
        super(message);
    }

    CommandFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /** What was tried, what the database said, and what may help. */
    static CommandFailure of(String tried, SQLException e) {
        return new CommandFailure("could not %s: %s%s".formatted(tried, said(e), remedy(e)), safe(e));
    }

    /** The same of what the library says, which knows no remedies of the command line. */
    static CommandFailure of(WindlassException e) {
        return new CommandFailure(
                withoutStore(e) + sqlBehind(e).map(CommandFailure::remedy).orElse(""), e);
    }

    /** Who migrates needs other rights than who runs Windlass. */
    static CommandFailure ofMigration(WindlassException e, Target target) {
        boolean denied = sqlBehind(e).filter(CommandFailure::isDenied).isPresent();
        return denied
                ? new CommandFailure(
                        withoutStore(e) + "; run it as the owner of the schema; if there is none yet, as a user who may"
                                + " create one: grant create on database \"" + target.databaseName() + "\" to \""
                                + target.userName() + "\"",
                        e)
                : of(e);
    }

    /** Whoever may only read sees no payloads, and a job is read with its own. */
    static CommandFailure ofJobs(WindlassException e) {
        boolean denied = sqlBehind(e).filter(CommandFailure::isDenied).isPresent();
        return denied
                ? new CommandFailure(
                        withoutStore(e)
                                + "; jobs are read with their payloads, which --grant-read-to does not show: use a"
                                + " database user that has the rights of a program; 'windlass runs list' shows runs without them",
                        e)
                : of(e);
    }

    /** The name of the store only helps where there are several. */
    private static String withoutStore(WindlassException e) {
        return String.valueOf(e.getMessage()).replaceFirst("^\\[windlass( \\w+)?] ", "");
    }

    static Optional<SQLException> sqlBehind(WindlassException e) {
        return e.getCause() instanceof SQLException cause ? Optional.of(cause) : Optional.empty();
    }

    /** Whether a right is missing, rather than anything else. */
    static boolean isDenied(SQLException e) {
        return "42501".equals(e.getSQLState());
    }

    /** What may be printed of a failure: a database's error in it quotes no row. */
    static Throwable safe(Throwable failure) {
        return SafeCopies.of(failure, DIALECT);
    }

    /** The driver's words in one line, without its own advice, and where it says nothing, the reason below it. */
    static String said(SQLException e) {
        String words = DIALECT.describe(e)
                .replaceAll("\\.? ?Check that the hostname and port are correct [^(]*", " ")
                .replaceAll("\\. \\(", " (");
        return e.getCause() instanceof IOException cause && words.startsWith("The connection attempt failed")
                ? words + ": " + cause.getClass().getSimpleName() + ": " + cause.getMessage()
                : words;
    }

    private static String remedy(SQLException e) {
        if (isAboutEncryption(e)) {
            return "; check sslmode and sslrootcert in the URL: sslrootcert is the certificate of who signed the server's,"
                    + " which has to name the host as the URL does";
        }
        String state = String.valueOf(e.getSQLState());
        return switch (state) {
            case "28P01", "28000", "08004" ->
                "; check --user and --password, and what stands for them: WINDLASS_USER, WINDLASS_PASSWORD, PGUSER, PGPASSWORD, ~/.pgpass";
            case "3D000" -> "; create the database, or correct the URL";
            case "42501" ->
                "; run 'windlass migrate --grant-to USER' as the owner of the schema, or use a database user that has this right";
            case "42704" -> "; create what is missing first, or correct its name";
            case "53300" -> "; close other connections, or raise the server's max_connections";
            case "57014" -> "; the database is busy, try again later";
            default ->
                state.startsWith("08")
                        ? "; check the address, and that the server runs and can be reached from here"
                        : "";
        };
    }

    /** In the driver's words, and in the server's to somebody who comes without. */
    private static boolean isAboutEncryption(SQLException e) {
        String words = String.valueOf(e.getMessage());
        return words.contains("SSL") || words.contains("hostnameverifier") || words.contains("no encryption");
    }
}
