package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ConnectionTest {

    @ParameterizedTest
    @ValueSource(strings = {"serve", "migrate", "status", "outbox failed", "outbox paused"})
    void closedPortIsOneSentenceWithoutThePassword(String words) throws IOException {
        String url = "jdbc:postgresql://127.0.0.1:" + closedPort() + "/db?password=hidden";
        Ran ran = Ran.windlass((words + " --user me --url " + url).split(" ", -1));
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err())
                .startsWith("windlass: could not connect to " + Secrets.mask(url) + " as user me: ")
                .contains("refused")
                .contains("check the address")
                .hasLineCount(1)
                .doesNotContain("hidden");
    }

    @Test
    void unknownHostIsNamed() {
        Ran ran = Ran.windlass("status", "--url", "jdbc:postgresql://host.invalid/db");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("UnknownHostException: host.invalid").hasLineCount(1);
    }

    @Test
    void unknownDatabaseIsNamed() {
        Ran ran = Ran.windlass("status", "--url", EmbeddedPostgres.shared().jdbcUrl("nowhere"), "--user", "postgres");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .contains("\"nowhere\" does not exist (SQLSTATE 3D000); create the database")
                .hasLineCount(1);
    }

    @Test
    void verboseAddsTheStackTraceWithoutThePassword() throws IOException {
        String url = "jdbc:postgresql://127.0.0.1:" + closedPort() + "/db?password=hidden";
        Ran ran = Ran.windlass("status", "--verbose", "--url", url);
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("\tat ").contains("Caused by: ").doesNotContain("hidden");
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
