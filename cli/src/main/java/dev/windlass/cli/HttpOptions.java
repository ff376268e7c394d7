package dev.windlass.cli;

import dev.windlass.cli.http.NodeServer;
import dev.windlass.health.Health;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.BindException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a node answers over HTTP. */
final class HttpOptions {
    private static final int USUAL_PORT = 8080;

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            converter = PortNumber.class,
            description = "Where it answers /health and /metrics (default: 8080, or any free port if that is taken).")
    private @Nullable Integer port;

    @Option(
            names = "--http-host",
            paramLabel = "HOST",
            description = "On which address; 0.0.0.0 for all (default: 127.0.0.1).")
    private String host = "127.0.0.1";

    @Option(names = "--no-http", description = "Do not answer over HTTP.")
    private boolean none;

    Optional<NodeServer> start(Lifetime lifetime, Health health, PrometheusMeterRegistry metrics) throws Exception {
        return none
                ? Optional.empty()
                : Optional.of(
                        lifetime.start(() -> port == null ? anywhere(health, metrics) : at(port, health, metrics)));
    }

    private NodeServer at(int chosen, Health health, PrometheusMeterRegistry metrics) throws Exception {
        try {
            return NodeServer.start(host, chosen, health, metrics);
        } catch (BindException e) {
            throw new CommandFailure("expected a free port for --http-port, but somebody has " + host + ":" + chosen
                    + " already; choose another one, or 0 for any");
        }
    }

    /** Nobody asked for a port, so a second node on a machine finds another one by itself. */
    private NodeServer anywhere(Health health, PrometheusMeterRegistry metrics) throws Exception {
        try {
            return NodeServer.start(host, USUAL_PORT, health, metrics);
        } catch (BindException e) {
            return NodeServer.start(host, 0, health, metrics);
        }
    }

    String told(Optional<NodeServer> server) {
        return server.map(started -> "http://" + host + ":" + started.port() + "/health and /metrics")
                .orElse("none");
    }
}
