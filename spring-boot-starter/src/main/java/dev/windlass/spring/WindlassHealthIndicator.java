package dev.windlass.spring;

import dev.windlass.health.HealthReport;
import java.util.function.Supplier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** A report of Windlass as Spring Boot shows health. */
final class WindlassHealthIndicator implements HealthIndicator {
    private final Supplier<HealthReport> report;

    WindlassHealthIndicator(Supplier<HealthReport> report) {
        this.report = report;
    }

    @Override
    public Health health() {
        HealthReport found = report.get();
        return (HealthDetails.isUp(found) ? Health.up() : Health.down())
                .withDetails(HealthDetails.of(found))
                .build();
    }
}
