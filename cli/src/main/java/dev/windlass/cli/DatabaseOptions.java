package dev.windlass.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which database a command works on: options first, then environment variables. */
final class DatabaseOptions {

    @Option(names = "--url", paramLabel = "URL", description = "JDBC URL of the database, or variable WINDLASS_URL.")
    private @Nullable String url;

    @Option(names = "--user", paramLabel = "USER", description = "Database user, or variable WINDLASS_USER.")
    private @Nullable String user;

    @Option(
            names = "--password",
            arity = "0..1",
            interactive = true,
            prompt = "password: ",
            paramLabel = "PASSWORD",
            description = "Its password, or variable WINDLASS_PASSWORD; without a value it is asked for.")
    private @Nullable String password;

    boolean hasUrlOption() {
        return url != null;
    }

    boolean hasLoginOption() {
        return user != null || password != null;
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
        return words;
    }

    Target required(CommandSpec command, Map<String, String> environment) {
        return target(command, environment)
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "expected a database, got none; give --url or set the variable WINDLASS_URL"));
    }

    Optional<Target> target(CommandSpec command, Map<String, String> environment) {
        String chosen = choose(url, environment, "WINDLASS_URL");
        if (chosen == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Target(
                    chosen,
                    choose(user, environment, "WINDLASS_USER"),
                    choose(password, environment, "WINDLASS_PASSWORD")));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** An empty variable counts as none: that is how many deployments unset one. */
    private static @Nullable String choose(@Nullable String option, Map<String, String> environment, String variable) {
        String fallback = environment.getOrDefault(variable, "");
        return option != null ? option : fallback.isEmpty() ? null : fallback;
    }
}
