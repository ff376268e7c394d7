package dev.windlass;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Collects what Windlass logs while it is open, stack traces included. */
public final class Logs extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.windlass");
    private final Level before = logger.getLevel();
    private final List<Line> lines = new CopyOnWriteArrayList<>();

    /** One event as text. */
    public record Line(Level level, String text) {}

    private Logs(Level level) {
        setContext(logger.getLoggerContext());
        start();
        logger.setAdditive(false);
        logger.addAppender(this);
        logger.setLevel(level);
    }

    public static Logs collect(Level level) {
        return new Logs(level);
    }

    @Override
    protected void append(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        lines.add(new Line(
                event.getLevel(),
                event.getFormattedMessage() + (thrown == null ? "" : "\n" + ThrowableProxyUtil.asString(thrown))));
    }

    public List<Line> lines() {
        return lines;
    }

    public List<String> at(Level level) {
        return lines.stream()
                .filter(line -> line.level().equals(level))
                .map(Line::text)
                .toList();
    }

    public long count(Level level, String part) {
        return at(level).stream().filter(text -> text.contains(part)).count();
    }

    @Override
    public void close() {
        logger.setLevel(before);
        logger.detachAppender(this);
        logger.setAdditive(true);
        stop();
    }
}
