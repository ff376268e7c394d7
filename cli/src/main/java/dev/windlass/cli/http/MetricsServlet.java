package dev.windlass.cli.http;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;

/** What Prometheus scrapes, in the format it asks for. */
final class MetricsServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final String OPEN_METRICS = "application/openmetrics-text";
    private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";

    private final transient PrometheusMeterRegistry registry;

    MetricsServlet(PrometheusMeterRegistry registry) {
        this.registry = registry;
    }

    /** It would echo what a proxy has added. */
    @Override
    protected void doTrace(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        boolean open = Optional.ofNullable(request.getHeader("Accept"))
                .filter(accepted -> accepted.contains(OPEN_METRICS))
                .isPresent();
        String type = open ? OPEN_METRICS + "; version=1.0.0; charset=utf-8" : PLAIN;
        response.setContentType(type);
        response.getWriter().write(registry.scrape(type));
    }
}
