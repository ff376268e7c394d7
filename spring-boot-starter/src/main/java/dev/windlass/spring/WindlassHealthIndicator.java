package dev.windlass.spring;

import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthReport.Entry;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** A report of Windlass as Spring Boot shows health. What is degraded is up: it works, and the details say that somebody should look at it. */
final class WindlassHealthIndicator implements HealthIndicator {
    private final Supplier<HealthReport> report;

    WindlassHealthIndicator(Supplier<HealthReport> report) {
        this.report = report;
    }

    @Override
    public Health health() {
        HealthReport found = report.get();
        Health.Builder health = switch (found.status()) {
            case HEALTHY, DEGRADED -> Health.up();
            case UNHEALTHY -> Health.down();
        };
        health.withDetail("status", found.status());
        found.checks().forEach(check -> health.withDetail(check.name(), told(check)));
        return health.build();
    }

    private static Map<String, Object> told(Entry check) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("status", check.status());
        told.put("description", check.description());
        check.error().ifPresent(error -> told.put("error", error));
        return told;
    }
}
