package dev.windlass.cli.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.health.HealthReport;
import dev.windlass.health.HealthStatus;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Answers 200, or 503 if it is unhealthy, with what each check found.
 *
 * <p>While the database hangs, an answer takes some seconds. Those who wait for it hold no thread: one asks, and answers all that have come
 * meanwhile, without waiting until they read it. So whoever asks whether the process is alive is answered, however many wait for something
 * else.
 */
final class HealthServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final transient Supplier<HealthReport> question;
    private final transient Executor threads;
    private final transient Queue<AsyncContext> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean asks = new AtomicBoolean();

    HealthServlet(Supplier<HealthReport> question, Executor threads) {
        this.question = question;
        this.threads = threads;
    }

    /** It would echo what a proxy has added. */
    @Override
    protected void doTrace(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        AsyncContext asker = request.startAsync();
        asker.setTimeout(0); // a question has its own
        waiting.add(asker);
        askUnlessAsked();
    }

    private void askUnlessAsked() {
        if (asks.compareAndSet(false, true)) {
            try {
                threads.execute(this::ask);
            } catch (RejectedExecutionException e) {
                asks.set(false);
                answerAll(this::refuse);
            }
        }
    }

    /** Who comes after the last has been answered, and before that is noted, finds nobody who asks: so it looks once more. */
    private void ask() {
        try {
            HealthReport report = question.get();
            byte[] json = JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(json(report));
            answerAll(asker -> answer(asker, report, json));
        } catch (JsonProcessingException | RuntimeException | Error e) {
            log("the question could not be answered", e);
            answerAll(this::refuse);
        } finally {
            asks.set(false);
        }
        if (!waiting.isEmpty()) {
            askUnlessAsked();
        }
    }

    /** Those who have come by now: whoever comes later asks for a later answer. One that has hung up keeps no other from its answer. */
    private void answerAll(Consumer<AsyncContext> answer) {
        for (int left = waiting.size(); left > 0; left--) {
            AsyncContext asker = waiting.poll();
            if (asker != null) {
                answerOne(asker, answer);
            }
        }
    }

    private void answerOne(AsyncContext asker, Consumer<AsyncContext> answer) {
        try {
            answer.accept(asker);
        } catch (RejectedExecutionException e) {
            // The server is being stopped, and ends all connections.
        } catch (IllegalStateException e) {
            log("an answer could not be sent", e);
        }
    }

    /** Nothing is known: who waits is told so, instead of waiting for ever. */
    private void refuse(AsyncContext asker) {
        ((HttpServletResponse) asker.getResponse()).setStatus(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        asker.complete();
    }

    /** Does not wait until it is read. */
    private void answer(AsyncContext asker, HealthReport report, byte[] json) {
        try {
            HttpServletResponse response = (HttpServletResponse) asker.getResponse();
            response.setStatus(
                    report.status() == HealthStatus.UNHEALTHY
                            ? HttpServletResponse.SC_SERVICE_UNAVAILABLE
                            : HttpServletResponse.SC_OK);
            response.setContentType("application/json");
            response.setCharacterEncoding("UTF-8");
            response.setHeader("Cache-Control", "no-store");
            Sending.begin(asker, json);
        } catch (IOException e) {
            log("an answer could not be sent", e);
            asker.complete();
        }
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
