package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The code in the docs is code that was compiled and run. */
final class SnippetsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    static List<Path> documents() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            return Stream.concat(
                            docs.filter(path -> path.toString().endsWith(".md")),
                            Stream.of(ROOT.resolve("README.md")).filter(Files::exists))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everySnippetEqualsTheRegionItNames(Path document) throws IOException {
        for (Snippet snippet : Snippet.in(Files.readString(document))) {
            assertThat(snippet.code())
                    .as("%s, snippet %s#%s", document.getFileName(), snippet.file(), snippet.region())
                    .isEqualTo(snippet.source(ROOT));
        }
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyPageShowsWhatItsCodeImports(Path document) throws IOException {
        String page = Files.readString(document);
        String complete = Imports.shownIn(page, ROOT);
        if (Boolean.getBoolean("update.docs")) {
            Files.writeString(document, complete);
            return;
        }
        assertThat(page)
                .as("%s; run this test with -Dupdate.docs=true to write its imports", document.getFileName())
                .isEqualTo(complete);
    }

    @Test
    void theDocsAreMadeOfSnippets() throws IOException {
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/inbox.md")))).hasSizeGreaterThan(5);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/outbox.md")))).hasSizeGreaterThan(10);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/jobs.md")))).hasSizeGreaterThan(5);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/leases.md")))).hasSizeGreaterThan(5);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/relay.md")))).hasSizeGreaterThan(5);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/sql.md")))).hasSizeGreaterThan(10);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/spring-boot.md"))))
                .hasSizeGreaterThan(15);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/timers.md")))).hasSizeGreaterThan(5);
        assertThat(Snippet.in(Files.readString(ROOT.resolve("docs/testing.md"))))
                .isNotEmpty();
    }

    @Test
    void aMarkWithoutCodeAndARegionThatIsMissingAreErrors() {
        assertThatThrownBy(() -> Snippet.in("<!-- snippet: A.java#x -->\n\ntext\n"))
                .hasMessageContaining("A.java#x");
        Snippet lost = Snippet.in("<!-- snippet: examples/pom.xml#lost -->\n```java\n1;\n```\n")
                .get(0);
        assertThat(lost.code()).isEqualTo("1;");
        assertThatThrownBy(() -> lost.source(ROOT)).hasMessageContaining("tag::lost");
    }
}
