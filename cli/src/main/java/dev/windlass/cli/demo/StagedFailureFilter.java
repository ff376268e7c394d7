package dev.windlass.cli.demo;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import org.jspecify.annotations.Nullable;

/** Keeps the stack traces of staged failures off the screen, and nothing else. Public for the logging configuration. */
public final class StagedFailureFilter extends Filter<ILoggingEvent> {

    @Override
    public FilterReply decide(ILoggingEvent event) {
        return isStaged(event.getThrowableProxy()) ? FilterReply.DENY : FilterReply.NEUTRAL;
    }

    private static boolean isStaged(@Nullable IThrowableProxy failure) {
        return failure != null
                && (failure.getClassName().equals(StagedFailure.class.getName()) || isStaged(failure.getCause()));
    }
}
