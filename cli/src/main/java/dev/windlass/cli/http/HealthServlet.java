package dev.windlass.cli.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;

/** Answers 200, or 503 if it is unhealthy, with what each check found. */
final class HealthServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final transient Supplier<HealthReport> question;

    HealthServlet(Supplier<HealthReport> question) {
        this.question = question;
    }

    /** It would echo what a proxy has added. */
    @Override
    protected void doTrace(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        HealthReport report = question.get();
        response.setStatus(
                report.status() == HealthStatus.UNHEALTHY
                        ? HttpServletResponse.SC_SERVICE_UNAVAILABLE
                        : HttpServletResponse.SC_OK);
        response.setContentType("application/json");
        response.setCharacterEncoding("UTF-8");
        response.setHeader("Cache-Control", "no-store");
        JSON.writerWithDefaultPrettyPrinter().writeValue(response.getWriter(), json(report));
    }

    private static ObjectNode json(HealthReport report) {
        ObjectNode json = JSON.createObjectNode();
        json.put("status", text(report.status()));
        ArrayNode checks = json.putArray("checks");
        for (HealthReport.Entry entry : report.checks()) {
            ObjectNode check = checks.addObject();
            check.put("name", entry.name());
            check.put("status", text(entry.status()));
            check.put("duration", millis(entry.duration()));
            check.put("description", entry.description());
            check.put("exception", entry.error().orElse(null));
        }
        json.put("totalDuration", millis(report.totalDuration()));
        return json;
    }

    private static String text(HealthStatus status) {
        return switch (status) {
            case HEALTHY -> "Healthy";
            case DEGRADED -> "Degraded";
            case UNHEALTHY -> "Unhealthy";
        };
    }

    private static double millis(Duration time) {
        return Math.round(time.toNanos() / 1e3) / 1e3;
    }
}
