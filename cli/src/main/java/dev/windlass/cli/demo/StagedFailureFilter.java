package dev.windlass.cli.demo;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import org.jspecify.annotations.Nullable;

/** Keeps staged failures off the screen, with a stack trace or without, and nothing else. Public for the logging configuration. */
public final class StagedFailureFilter extends Filter<ILoggingEvent> {
    private static final String LINE = ": " + StagedFailure.class.getName() + ": ";

    @Override
    public FilterReply decide(ILoggingEvent event) {
        boolean staged = isStaged(event.getThrowableProxy())
                || event.getFormattedMessage().contains(LINE);
        return staged ? FilterReply.DENY : FilterReply.NEUTRAL;
    }

    private static boolean isStaged(@Nullable IThrowableProxy failure) {
        return failure != null
                && (failure.getClassName().equals(StagedFailure.class.getName()) || isStaged(failure.getCause()));
    }
}
