package dev.windlass.spring;

import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthReport.Entry;
import java.util.LinkedHashMap;
import java.util.Map;

/** What Spring Boot shows of a report. What is degraded is up: it works, and the details say that somebody should look at it. */
final class HealthDetails {
    private HealthDetails() {}

    static boolean isUp(HealthReport report) {
        return switch (report.status()) {
            case HEALTHY, DEGRADED -> true;
            case UNHEALTHY -> false;
        };
    }

    static Map<String, Object> of(HealthReport report) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("status", report.status());
        report.checks().forEach(check -> details.put(check.name(), told(check)));
        return details;
    }

    private static Map<String, Object> told(Entry check) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("status", check.status());
        told.put("description", check.description());
        check.error().ifPresent(error -> told.put("error", error));
        return told;
    }
}
