package dev.windlass.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which database a command works on: options first, then our variables, then those of PostgreSQL. */
final class DatabaseOptions {
    /** No shell can give this as a password. */
    private static final String ASK = "\0ask";

    @Option(
            names = "--url",
            paramLabel = "URL",
            description =
                    "JDBC URL of the database, or variable WINDLASS_URL; jdbc:postgresql: takes PGHOST and the like.")
    private @Nullable String url;

    @Option(names = "--user", paramLabel = "USER", description = "Database user, or variable WINDLASS_USER or PGUSER.")
    private @Nullable String user;

    @Option(
            names = "--password",
            arity = "0..1",
            fallbackValue = ASK,
            paramLabel = "PASSWORD",
            description = "Its password, or variable WINDLASS_PASSWORD or PGPASSWORD, or in ~/.pgpass;"
                    + " without a value it is asked for on the terminal.")
    private @Nullable String password;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "A file that holds the password and nothing else, or variable WINDLASS_PASSWORD_FILE.")
    private @Nullable Path passwordFile;

    /** What the person has been told. */
    private final Set<String> said = new HashSet<>();

    boolean hasUrlOption() {
        return url != null;
    }

    boolean hasLoginOption() {
        return user != null || password != null || passwordFile != null;
    }

    /** The options that lead to the same database again, without a password: one in the URL is masked, another asked for. */
    List<String> words() {
        List<String> words = new ArrayList<>();
        if (url != null) {
            words.addAll(List.of("--url", Secrets.mask(url)));
        }
        if (user != null) {
            words.addAll(List.of("--user", user));
        }
        if (password != null) {
            words.add("--password");
        }
        if (passwordFile != null) {
            words.addAll(List.of("--password-file", passwordFile.toString()));
        }
        return words;
    }

    /** For commands that need a database: PostgreSQL's variables alone can name it. */
    Target required(CommandSpec command, Map<String, String> environment) {
        return read(command, () -> {
            PostgresVariables variables = new PostgresVariables(environment);
            String chosen = choose(url, environment, "WINDLASS_URL")
                    .or(variables::url)
                    .orElseThrow(() -> new ParameterException(
                            command.commandLine(),
                            "expected a database, got none; give --url, or set the variable WINDLASS_URL,"
                                    + " or PGHOST and PGDATABASE, or PGSERVICE"));
            return target(chosen, command, environment);
        });
    }

    /**
     * For commands that can do with a database of their own: what was set for other programs must not send them to yours, unless
     * the URL says so.
     */
    Optional<Target> target(CommandSpec command, Map<String, String> environment) {
        return read(
                command,
                () -> choose(url, environment, "WINDLASS_URL").map(chosen -> target(chosen, command, environment)));
    }

    /** One of a list: what stands there is stronger than the options, which are for those that leave it open. */
    Target listed(Target listed, CommandSpec command, Map<String, String> environment) {
        PasswordFile.hide();
        PostgresVariables variables = new PostgresVariables(environment);
        Target named = listed.hasUser()
                ? listed
                : listed.withUser(choose(user, environment, "WINDLASS_USER")
                        .or(variables::user)
                        .orElse(null));
        return named.hasPassword()
                ? named
                : named.withPassword(password(named, command, environment).orElse(null));
    }

    /** Another database of the same server, which may have a line of its own in the password file. */
    Target neighbour(Target target, String database, CommandSpec command, Map<String, String> environment) {
        return read(command, () -> target(target.withDatabase(database).url(), command, environment));
    }

    private static <T> T read(CommandSpec command, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private Target target(String chosen, CommandSpec command, Map<String, String> environment) {
        PasswordFile.hide();
        PostgresVariables variables = new PostgresVariables(environment);
        String known = PostgresVariables.isLeftOpen(chosen) ? variables.url().orElse(chosen) : chosen;
        Target bare =
                new Target(known, choose(user, environment, "WINDLASS_USER").orElse(null), null);
        Target named = bare.hasUser() ? bare : bare.withUser(variables.user().orElse(null));
        return named.withPassword(password(named, command, environment).orElse(null));
    }

    private Optional<String> password(Target target, CommandSpec command, Map<String, String> environment) {
        PostgresVariables variables = new PostgresVariables(environment);
        if (ASK.equals(password)) {
            password = asked(target, command);
        }
        return Optional.ofNullable(password)
                .or(() -> Optional.ofNullable(passwordFile).map(file -> secret(file, command)))
                .or(() -> Variables.value(environment, "WINDLASS_PASSWORD"))
                .or(() -> Variables.value(environment, "WINDLASS_PASSWORD_FILE")
                        .map(file -> secret(Path.of(file), command)))
                .or(target::passwordInUrl)
                .or(variables::password)
                .or(() -> stored(variables.passwordFile(), target, command));
    }

    private static String secret(Path file, CommandSpec command) {
        return read(command, new SecretFile(file)::read);
    }

    private static String asked(Target target, CommandSpec command) {
        return WindlassCommand.above(command)
                .terminal()
                .password("password for user " + target.userName() + ": ")
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "expected a terminal to ask for the password on, found none;"
                                + " set the variable PGPASSWORD, or put the password into ~/.pgpass"));
    }

    private Optional<String> stored(Path path, Target target, CommandSpec command) {
        PasswordFile file = new PasswordFile(path);
        Optional<String> refusal = file.refusal();
        refusal.filter(said::add)
                .ifPresent(sentence -> command.commandLine().getErr().println("windlass: " + sentence));
        return refusal.isPresent() ? Optional.empty() : file.password(target.url(), target.userName());
    }

    private static Optional<String> choose(@Nullable String option, Map<String, String> environment, String variable) {
        return Optional.ofNullable(option).or(() -> Variables.value(environment, variable));
    }
}
