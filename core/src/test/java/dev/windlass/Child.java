package dev.windlass;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A main class in a process of its own, which ends with this one. */
public final class Child implements AutoCloseable {
    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader = new Thread(this::read, "child-output");

    private Child(Process process) {
        this.process = process;
        reader.setDaemon(true);
        reader.start();
    }

    /** With the URL, the user and the schema as its first arguments. */
    public static Child start(Class<?> main, TestDatabase database, String... arguments) throws IOException {
        return start(java(), main, database, arguments);
    }

    /** The command that has started this process. */
    public static String java() {
        return ProcessHandle.current().info().command().orElse("java");
    }

    public static Child start(String java, Class<?> main, TestDatabase database, String... arguments)
            throws IOException {
        return start(List.of(java), main, database, arguments);
    }

    /** The same with a command that has options of its own. */
    public static Child start(List<String> java, Class<?> main, TestDatabase database, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(java);
        command.addAll(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName(),
                database.server().jdbcUrl(),
                "windlass_runtime",
                database.schema()));
        command.addAll(List.of(arguments));
        return new Child(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    private void read() {
        try (BufferedReader output = process.inputReader()) {
            output.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("output ended: " + e);
        }
    }

    public boolean said(String line) {
        return lines.contains(line);
    }

    public List<String> lines() {
        return lines;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** As {@code kill -9} does. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** As {@code kill} does: it may end in an orderly way. */
    public void terminate() throws IOException, InterruptedException {
        signal("-TERM");
    }

    /** Lets it stand still, as a frozen virtual machine does: no thread of it runs, and nothing in it knows. */
    public void freeze() throws IOException, InterruptedException {
        signal("-STOP");
    }

    public void thaw() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("kill " + signal + " ended with " + code);
        }
    }

    /** Sends it the line for which it waits. */
    public void goOn() throws IOException {
        try (Writer input = process.outputWriter()) {
            input.write('\n');
        }
    }

    /** After its end: until all that it said has been read. */
    public void awaitOutput() throws InterruptedException {
        reader.join();
    }

    /** Lets it close its Windlass and end. */
    public int end() throws IOException, InterruptedException {
        process.outputWriter().close();
        int code = process.waitFor();
        reader.join();
        return code;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
