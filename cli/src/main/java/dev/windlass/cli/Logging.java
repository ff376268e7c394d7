package dev.windlass.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns up the log, which otherwise shows problems only, in a line each. */
final class Logging {

    private Logging() {}

    static void beVerbose() {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger("dev.windlass").setLevel(Level.INFO);
            context.getLogger("com.zaxxer.hikari").setLevel(Level.WARN);
            Appender<ILoggingEvent> screen =
                    context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("STDERR");
            if (screen instanceof OutputStreamAppender<ILoggingEvent> appender
                    && appender.getEncoder() instanceof PatternLayoutEncoder encoder) {
                encoder.stop();
                encoder.setPattern("%d{HH:mm:ss.SSS}  %-5level [%thread] %logger{20} %msg%n%ex");
                encoder.start();
            }
        }
    }
}
