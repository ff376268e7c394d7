package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page for operators names all loggers there are, by class or by package, and no others. */
final class DocumentedLoggersTest {
    private static final Path SOURCES = Repository.path("core/src/main/java");
    private static final Pattern LOGGER = Pattern.compile("getLogger\\((\\w+)\\.class\\)");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `dev\\.windlass[^|]*");
    private static final Pattern NAME = Pattern.compile("`([\\w.]+)`");

    @Test
    void everyLoggerIsOnThePageAndNoOther() throws IOException {
        List<String> loggers = loggers();
        List<String> named = named();
        assertThat(loggers)
                .hasSizeGreaterThan(20)
                .allSatisfy(logger ->
                        assertThat(named).anyMatch(name -> logger.equals(name) || logger.startsWith(name + ".")));
        assertThat(named)
                .allSatisfy(name ->
                        assertThat(loggers).anyMatch(logger -> logger.equals(name) || logger.startsWith(name + ".")));
    }

    private static List<String> named() throws IOException {
        String page = Repository.read("docs/operations.md");
        return ROW.matcher(page.substring(page.indexOf("## Read the log")))
                .results()
                .flatMap(row -> NAME.matcher(row.group()).results())
                .map(name -> name.group(1))
                .toList();
    }

    private static List<String> loggers() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            Map<String, Path> sources = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("package-info.java"))
                    .collect(Collectors.toMap(
                            file -> file.getFileName().toString().replace(".java", ""),
                            file -> file,
                            (one, two) -> one));
            List<String> loggers = new ArrayList<>();
            for (Path source : sources.values()) {
                for (MatchResult found :
                        LOGGER.matcher(Files.readString(source)).results().toList()) {
                    loggers.add(className(sources.getOrDefault(found.group(1), source)));
                }
            }
            return loggers;
        }
    }

    private static String className(Path source) {
        return SOURCES.relativize(source).toString().replace(".java", "").replace('/', '.');
    }
}
