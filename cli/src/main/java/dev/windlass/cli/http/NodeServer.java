package dev.windlass.cli.http;

import dev.windlass.health.Health;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Answers /health, /health/live, /health/ready and /metrics. */
public final class NodeServer implements AutoCloseable {
    private static final int MOST_THREADS = 16;

    /** Who sends nothing and reads nothing for so long is gone. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final Server server;
    private final ServerConnector connector;

    private NodeServer(String host, int port, Health health, PrometheusMeterRegistry registry) {
        QueuedThreadPool threads = new QueuedThreadPool(MOST_THREADS, 1);
        threads.setName("windlass-http");
        threads.setDaemon(true);
        server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost(host);
        connector.setPort(port);
        connector.setIdleTimeout(IDLE.toMillis());
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        add(context, new HealthServlet(health::all, threads), "/health");
        add(context, new HealthServlet(health::live, threads), "/health/live");
        add(context, new HealthServlet(health::ready, threads), "/health/ready");
        add(context, new MetricsServlet(registry), "/metrics");
        server.setHandler(context);
    }

    private static void add(ServletContextHandler context, HttpServlet servlet, String path) {
        ServletHolder holder = new ServletHolder(servlet);
        holder.setAsyncSupported(true);
        context.addServlet(holder, path);
    }

    /**
     * Starts it.
     *
     * @param port 0 for any that is free
     * @throws BindException if the port is taken
     */
    public static NodeServer start(String host, int port, Health health, PrometheusMeterRegistry registry)
            throws Exception {
        NodeServer server = new NodeServer(host, port, health, registry);
        try {
            server.server.start();
            return server;
        } catch (IOException e) {
            server.close();
            if (e instanceof BindException || e.getCause() instanceof BindException) {
                throw new BindException(host + ":" + port);
            }
            throw e;
        }
    }

    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        try {
            server.stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            throw new IOException("the HTTP server did not stop as it should", e);
        }
    }
}
