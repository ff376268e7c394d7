package dev.windlass.cli.http;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.Semaphore;

/**
 * What Prometheus scrapes, in the format it asks for.
 *
 * <p>Whoever asks and does not read holds no thread, or a few of them would keep all others from their answers; and as what waits to be read
 * takes memory, only some may wait at a time, and none for long.
 */
final class MetricsServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final int MOST_AT_ONCE = 8;
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private final transient PrometheusMeterRegistry registry;
    private final transient Semaphore places = new Semaphore(MOST_AT_ONCE);

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
        if (!places.tryAcquire()) {
            response.setHeader("Retry-After", "1");
            response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
            return;
        }
        AsyncContext asker = request.startAsync();
        asker.setTimeout(LONGEST.toMillis());
        asker.addListener(new Place(places));
        String type = ScrapeFormat.of(Collections.list(request.getHeaders("Accept")));
        byte[] scrape = registry.scrape(type).getBytes(StandardCharsets.UTF_8);
        response.setContentType(type);
        Sending.begin(asker, scrape);
    }

    /** Is given back at the end, however it comes. */
    private record Place(Semaphore places) implements AsyncListener {

        @Override
        public void onComplete(AsyncEvent event) {
            places.release();
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            event.getAsyncContext().complete();
        }

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
