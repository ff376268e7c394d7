package dev.windlass.examples;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.event.WindlassEvent;
import dev.windlass.health.HealthFinding;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import dev.windlass.metrics.WindlassMetrics;
import dev.windlass.trace.ObservationTracing;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.File;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** What docs/monitoring.md shows one by one, too small for programs of their own. */
final class MonitoringRecipes {

    private MonitoringRecipes() {}

    static WindlassBuilder deadLetterAlert(WindlassBuilder builder, Consumer<String> pager) {
        // tag::dead-letter-alert
        builder.listener(event -> {
            if (event instanceof WindlassEvent.DeadLettered dead) {
                pager.accept("message " + dead.id() + " of topic " + dead.topic() + " failed for good after "
                        + dead.attempt() + " attempts: " + dead.error());
            }
        });
        // end::dead-letter-alert
        return builder;
    }

    static String health(WindlassBuilder builder, File disk) {
        // tag::health
        Windlass windlass = builder.healthCheck(
                        "disk",
                        () -> disk.getUsableSpace() > 1_000_000_000
                                ? HealthFinding.healthy("there is room")
                                : HealthFinding.degraded("less than a gigabyte is free"))
                .start();

        HealthReport report = windlass.health().all();
        String status = report.status() == HealthStatus.HEALTHY
                ? "well"
                : report.checks().toString();
        // end::health
        windlass.close();
        return status;
    }

    static Windlass traces(DataSource dataSource, ObservationRegistry observations) {
        // tag::traces
        Windlass windlass = Windlass.on(dataSource)
                .tracing(new ObservationTracing(observations))
                .start();
        // end::traces
        return windlass;
    }

    static Windlass metrics(DataSource dataSource, MeterRegistry registry) {
        // tag::metrics
        Windlass windlass =
                Windlass.on(dataSource).listener(new WindlassMetrics(registry)).start();
        // end::metrics
        return windlass;
    }
}
