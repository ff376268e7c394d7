package dev.windlass.schedule;

import dev.windlass.cron.CronExpression;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.internal.support.Require;
import java.time.Duration;
import java.time.ZoneId;

/** When a job runs. */
public sealed interface Schedule {

    /** At the times that a cron expression names, in the local time of a zone. */
    record Cron(CronExpression expression, ZoneId zone) implements Schedule {
        private static final int MAX_EXPRESSION = 255;
        private static final int MAX_ZONE = 64;

        public Cron {
            Require.present("cron expression", expression);
            Require.text("cron expression", expression.toString(), MAX_EXPRESSION);
            Require.present("time zone", zone);
            Require.text("time zone", zone.getId(), MAX_ZONE);
        }

        public static Cron parse(String expression, ZoneId zone) {
            return new Cron(CronExpression.parse(Require.text("cron expression", expression, MAX_EXPRESSION)), zone);
        }

        @Override
        public String toString() {
            return expression + " in " + zone;
        }
    }

    /** Again and again after this time, counted from when the job was saved with it: at least a second. */
    record Every(Duration period) implements Schedule {
        private static final Duration SHORTEST = Duration.ofSeconds(1);

        public Every {
            Require.positive("period", period);
            if (period.compareTo(SHORTEST) < 0) {
                throw new IllegalArgumentException("expected a period of at least one second, got " + period);
            }
            JobDurations.wholeMillis("period", period);
        }

        @Override
        public String toString() {
            return "every " + period;
        }
    }

    /**
     * What is stored, and this program does not understand: it was edited by hand, or written by a newer program.
     *
     * @param why what is wrong with it
     */
    record Unreadable(String cron, String zone, String why) implements Schedule {
        @Override
        public String toString() {
            return cron + " in " + zone;
        }
    }
}
