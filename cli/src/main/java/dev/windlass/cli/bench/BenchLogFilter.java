package dev.windlass.cli.bench;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;

/**
 * Keeps off the screen what is said of stores that are sick on purpose, and of those that lose their databases since the bench was
 * broken off. Public for the logging configuration.
 */
public final class BenchLogFilter extends Filter<ILoggingEvent> {
    /** How the names of such stores begin. */
    static final String SICK = "sick on purpose: ";

    private static volatile boolean brokenOff;

    static void breakOff() {
        brokenOff = true;
    }

    @Override
    public FilterReply decide(ILoggingEvent event) {
        boolean isOfStore = event.getFormattedMessage().startsWith("[");
        boolean isSick = event.getFormattedMessage().startsWith("[" + SICK);
        return isSick || (brokenOff && isOfStore) ? FilterReply.DENY : FilterReply.NEUTRAL;
    }
}
