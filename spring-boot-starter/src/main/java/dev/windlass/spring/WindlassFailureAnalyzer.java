package dev.windlass.spring;

import dev.windlass.base.WindlassException;
import dev.windlass.schema.SchemaException;
import dev.windlass.spring.Given.InvalidPropertyException;
import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import dev.windlass.spring.LiveFeature.LeftOutException;
import dev.windlass.spring.OwnWindlass.UnconfiguredException;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Says what to do about what keeps an application with Windlass from starting. It comes first: it speaks of Windlass's own exceptions alone, and
 * others would speak of what is around them. What it cannot help with keeps its stack trace.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class WindlassFailureAnalyzer implements FailureAnalyzer {
    private static final String NO_SCHEMA =
            "If the schema is missing or too old, run \"windlass migrate\" or the SQL files with your migrations, or set"
                    + " windlass.ensure-schema=true where the application may create tables.";

    private static final String NO_DATABASE = "If the database cannot be reached, check that its server answers, and"
            + " spring.datasource.url (or windlass.stores.*) and the login there.";

    private static final String NO_RIGHT = "If the login lacks rights, give it those of grants.sql. Where"
            + " windlass.ensure-schema=true lets the application create tables, it has to be allowed to do that.";

    private static final String NO_CODEC =
            "Add Jackson: spring-boot-starter-jackson (spring-boot-starter-json on Spring Boot"
                    + " 3.5) brings it. Or make a bean of type PayloadCodec.";

    private static final String NO_TRANSACTION =
            "Put @Transactional at the method that writes it, and call that from another"
                    + " bean; or allow it with windlass.transaction-required=false.";

    /** Connections, logins, a database that is not there, one that has no room or is starting. */
    private static final Set<String> OF_CONNECTIONS = Set.of("08", "28", "3D", "53", "57");

    private static final Set<String> OF_NAMES = Set.of("3F000", "42P01", "42883", "42703");
    private static final String OF_RIGHTS = "42501";

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            FailureAnalysis known = known(failure, cause);
            if (known != null) {
                return known;
            }
        }
        return null;
    }

    private static @Nullable FailureAnalysis known(Throwable failure, Throwable cause) {
        String told = String.valueOf(cause.getMessage());
        if (cause instanceof InvalidPropertyException invalid) {
            return new FailureAnalysis(
                    told, "Change the property " + invalid.property() + ", which is " + invalid.value() + ".", cause);
        }
        if (cause instanceof InvalidHandlerException) {
            return new FailureAnalysis(
                    told, "Change the method or class, or its annotation, as the sentence above says.", cause);
        }
        if (cause instanceof UnconfiguredException) {
            return new FailureAnalysis(told, UnconfiguredException.ACTION, cause);
        }
        if (cause instanceof NoDataSourceException none) {
            return new FailureAnalysis(told, none.action(), cause);
        }
        if (cause instanceof SeveralBeansException) {
            return new FailureAnalysis(told, "Make one of them @Primary, or take the others away.", cause);
        }
        if (cause instanceof LeftOutException leftOut) {
            return new FailureAnalysis(
                    told + " " + Needed.by(failure, cause) + " needs it.",
                    "Add " + leftOut.feature()
                            + " to windlass.features, or take that property away: then there are all.",
                    cause);
        }
        if (cause instanceof SchemaException) {
            return new FailureAnalysis(told, NO_SCHEMA, cause);
        }
        return cause instanceof WindlassException windlass ? other(windlass, told) : null;
    }

    private static @Nullable FailureAnalysis other(WindlassException failure, String told) {
        if (told.contains("expected a codec for typed payloads")) {
            return new FailureAnalysis(told, NO_CODEC, failure);
        }
        if (!(failure.getCause() instanceof SQLException error)) {
            return null;
        }
        if (told.contains("it is to be a part of a transaction")) {
            return new FailureAnalysis(told + writer(failure), NO_TRANSACTION, failure);
        }
        String action = action(Objects.requireNonNullElse(error.getSQLState(), ""));
        return action == null ? null : new FailureAnalysis(told, action, failure);
    }

    private static @Nullable String action(String state) {
        if (state.isEmpty() || OF_CONNECTIONS.contains(state.substring(0, 2))) {
            return NO_DATABASE; // a pool that has no connection gives no state
        }
        if (OF_NAMES.contains(state)) {
            return NO_SCHEMA;
        }
        return state.equals(OF_RIGHTS) ? NO_RIGHT : null;
    }

    /** Who called the bean of the feature, since the stack trace is not shown. */
    private static String writer(WindlassException failure) {
        StackTraceElement[] calls = failure.getStackTrace();
        for (int i = 0; i < calls.length - 1; i++) {
            if (calls[i].getClassName().contains("$Proxy")) {
                return "\n\nIt was written by " + calls[i + 1];
            }
        }
        return "";
    }
}
