package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The conformance suites speak no engine's own SQL: what they need of it, {@link EngineDatabase} has. */
final class ConformanceSqlTest {
    private static final String TEXT = "\"(?:\\\\.|[^\"\\\\\n])*\"";

    /** Texts that name the schema, and conditions. */
    private static final Pattern SQL =
            Pattern.compile("(?:(?:count|runs|messages)\\(|(?=\"[^\"]*%s\\.))" + TEXT + "(?:\\s*\\+\\s*" + TEXT + ")*");

    private static final Pattern OF_ONE_ENGINE = Pattern.compile(
            "::|\\|\\||\\$\\$|now\\(\\)|\\b(pg_\\w+|clock_timestamp|interval|infinity|date_trunc|extract|string_agg|array|jsonb?"
                    + "|true|false|limit|returning|on conflict|for update|not valid|truncate|if (not )?exists|gen_random_uuid)\\b");

    @Test
    void noSuiteSpeaksTheSqlOfOneEngine() throws IOException {
        Map<Path, List<String>> foreign = new TreeMap<>();
        try (Stream<Path> files = Files.walk(Repository.path("core/src/test/java"))) {
            for (Path suite : files.filter(file -> file.toString().endsWith("Conformance.java"))
                    .toList()) {
                foreign.put(
                        suite.getFileName(),
                        SQL.matcher(Files.readString(suite))
                                .results()
                                .map(MatchResult::group)
                                .filter(sql -> OF_ONE_ENGINE.matcher(sql).find())
                                .toList());
            }
        }
        assertThat(foreign).hasSizeGreaterThan(50);
        foreign.values().removeIf(List::isEmpty);
        assertThat(foreign).isEmpty();
    }
}
