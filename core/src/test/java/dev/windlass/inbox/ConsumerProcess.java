package dev.windlass.inbox;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.WindlassOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.postgresql.ds.PGSimpleDataSource;

/** A process of its own that processes message 1, and stays in the middle of it until it is told to go on. */
final class ConsumerProcess implements AutoCloseable {
    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private ConsumerProcess(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "consumer-output");
        reader.setDaemon(true);
        reader.start();
    }

    static ConsumerProcess start(TestDatabase database, Duration lease) throws IOException {
        return new ConsumerProcess(new ProcessBuilder(List.of(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ConsumerProcess.class.getName(),
                        database.server().jdbcUrl(),
                        "windlass_runtime",
                        database.schema(),
                        lease.toString()))
                .redirectErrorStream(true)
                .start());
    }

    private void read() {
        try (BufferedReader output = process.inputReader()) {
            output.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("output ended: " + e);
        }
    }

    boolean said(String line) {
        return lines.contains(line);
    }

    /** As {@code kill -9} does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Stops the whole process where it is, as a frozen virtual machine is. */
    void freeze() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void thaw() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("kill " + signal + " answered " + code);
        }
    }

    void goOn() throws IOException {
        try (Writer input = process.outputWriter()) {
            input.write('\n');
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        try (Windlass windlass = Windlass.on(source)
                .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                .inbox(InboxOptions.defaults().withGuardLease(Duration.parse(arguments[3])))
                .start()) {
            Processed processed = windlass.inbox().process("orders", "1", connection -> {
                try (PreparedStatement insert =
                        connection.prepareStatement("insert into " + arguments[2] + ".ledger values ('child')")) {
                    insert.executeUpdate();
                }
                say("working");
                var unused = System.in.read();
            });
            say(processed.outcome().name());
        } catch (AttemptLostException e) {
            say("lost");
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
