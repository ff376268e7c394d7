package dev.windlass.embedded;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The server's log from the moment this object was made, or the end of it. */
record ServerLog(Path file, long from) {

    private static final int TAIL_LINES = 15;
    private static final int MOST_BYTES = 64 * 1024;

    ServerLog(Path file) {
        this(file, 0);
    }

    static ServerLog fromNow(Path file) throws IOException {
        return new ServerLog(file, Files.exists(file) ? Files.size(file) : 0);
    }

    String tail() {
        List<String> lines = text().lines().toList();
        return String.join(System.lineSeparator(), lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
    }

    String text() {
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
            long start = Math.max(from, log.length() - MOST_BYTES);
            byte[] bytes = new byte[(int) Math.max(0, log.length() - start)];
            log.seek(start);
            log.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }
}
