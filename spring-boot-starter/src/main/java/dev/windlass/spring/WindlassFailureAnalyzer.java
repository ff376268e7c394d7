package dev.windlass.spring;

import dev.windlass.base.WindlassException;
import dev.windlass.spring.Given.InvalidPropertyException;
import dev.windlass.spring.HandlerMethod.InvalidHandlerException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/** Says what to do about what keeps an application with Windlass from starting. */
final class WindlassFailureAnalyzer implements FailureAnalyzer {

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            FailureAnalysis known = known(cause);
            if (known != null) {
                return known;
            }
        }
        return null;
    }

    private static @Nullable FailureAnalysis known(Throwable cause) {
        String told = String.valueOf(cause.getMessage());
        if (cause instanceof InvalidPropertyException invalid) {
            return new FailureAnalysis(
                    told, "Change the property " + invalid.property() + ", which is " + invalid.value() + ".", cause);
        }
        if (cause instanceof InvalidHandlerException) {
            return new FailureAnalysis(told, "Change the method or its annotation as the sentence above says.", cause);
        }
        if (cause instanceof NoDataSourceException) {
            return new FailureAnalysis(
                    told, "Name the bean by windlass.data-source, or make one of them @Primary.", cause);
        }
        if (cause instanceof WindlassException) {
            return new FailureAnalysis(
                    told,
                    "If the schema is missing or too old, run \"windlass migrate\" or the SQL files with your migrations, or set"
                            + " windlass.ensure-schema=true where the application may create tables. If the database cannot be"
                            + " reached, check spring.datasource.url and its login.",
                    cause);
        }
        return null;
    }
}
