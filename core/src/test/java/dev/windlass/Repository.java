package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of the repository that are made of the code, and checked by the build. */
public final class Repository {
    private static final Path ROOT = root();

    private Repository() {}

    /** Fails when the file differs from what it should be; {@code -Dupdate.docs=true} writes it instead. */
    public static void holds(String path, String content) throws IOException {
        Path file = path(path);
        if (Boolean.getBoolean("update.docs")) {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, content);
        }
        assertThat(file)
                .as("%s is made of the code; run the tests with -Dupdate.docs=true to write it", path)
                .hasContent(content);
    }

    public static String read(String path) throws IOException {
        return Files.readString(path(path));
    }

    public static Path path(String path) {
        return ROOT.resolve(path);
    }

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve(".mvn"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new IllegalStateException("expected to run inside of the repository, there is no .mvn above "
                        + Path.of("").toAbsolutePath());
            }
        }
        return directory;
    }

    /** SQL that a page gives, under the name that it has there, for {@link TestDatabase#execute}. */
    public static String documentedSql(String page, String name) throws IOException {
        String start = "<!-- sql: " + name + " -->\n```sql\n";
        String docs = read(page);
        int from = docs.indexOf(start) + start.length();
        return docs.substring(from, docs.indexOf("```", from)).replace("windlass.", "%s.");
    }
}
