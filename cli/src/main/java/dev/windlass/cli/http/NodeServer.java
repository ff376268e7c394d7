package dev.windlass.cli.http;

import dev.windlass.health.Health;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.http.HttpServlet;
import java.io.IOException;
import java.net.BindException;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Answers /health, /health/live, /health/ready and /metrics. */
public final class NodeServer implements AutoCloseable {
    /** While the database hangs, each question about it holds one for some seconds, and liveness has to be answered all the same. */
    private static final int MOST_THREADS = 64;

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
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        add(context, new HealthServlet(health::all), "/health");
        add(context, new HealthServlet(health::live), "/health/live");
        add(context, new HealthServlet(health::ready), "/health/ready");
        add(context, new MetricsServlet(registry), "/metrics");
        server.setHandler(context);
    }

    private static void add(ServletContextHandler context, HttpServlet servlet, String path) {
        context.addServlet(new ServletHolder(servlet), path);
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
