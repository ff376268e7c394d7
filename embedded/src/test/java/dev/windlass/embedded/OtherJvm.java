package dev.windlass.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A second JVM that starts a server, says {@code pid port}, and waits to be killed. */
final class OtherJvm implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;

    private OtherJvm(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    static OtherJvm startingServerOn(Path directory) throws IOException {
        String java = ProcessHandle.current().info().command().orElse("java");
        return new OtherJvm(new ProcessBuilder(List.of(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        OtherJvm.class.getName(),
                        directory.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    public static void main(String[] arguments) throws InterruptedException {
        EmbeddedPostgres postgres =
                EmbeddedPostgres.start(EmbeddedPostgres.Options.defaults().withDataDirectory(Path.of(arguments[0])));
        System.out.println(postgres.pid() + " " + postgres.port());
        Thread.sleep(60_000);
    }

    String firstLine() throws IOException {
        return output.readLine();
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        output.close();
    }
}
