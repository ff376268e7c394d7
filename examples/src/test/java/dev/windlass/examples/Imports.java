package dev.windlass.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the Java code on a page imports, for those who copy it: a block after the mark {@code <!-- imports -->}. Code that shows its
 * imports itself is left out.
 */
final class Imports {
    static final String MARK = "<!-- imports -->\n";

    private static final Pattern BLOCK = Pattern.compile(MARK + "```java\n.*?```\n", Pattern.DOTALL);
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?\\S+\\.(\\w+);$");
    private static final Pattern TYPE = Pattern.compile("\\b[A-Z]\\w+");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package (\\S+);$");
    private static final List<String> MODULES = List.of("core", "testkit");

    private Imports() {}

    /** The page as it should be: with the block that it needs, where it has one. */
    static String shownIn(String page, Path root) throws IOException {
        Collection<String> imports = new TreeSet<>();
        for (Snippet snippet : Snippet.in(page)) {
            if (snippet.file().endsWith(".java")
                    && !IMPORT.matcher(snippet.code()).find()) {
                imports.addAll(of(snippet, root));
            }
        }
        String block = imports.isEmpty() ? "" : MARK + "```java\n" + String.join("\n", imports) + "\n```\n";
        return BLOCK.matcher(page).find()
                ? BLOCK.matcher(page).replaceFirst(Matcher.quoteReplacement(block))
                : page + block;
    }

    private static List<String> of(Snippet snippet, Path root) throws IOException {
        String source = Files.readString(root.resolve(snippet.file()));
        Stream<String> imported = IMPORT.matcher(source)
                .results()
                .filter(line -> isUsed(line.group(1), snippet))
                .map(MatchResult::group);
        String home =
                PACKAGE.matcher(source).results().findFirst().orElseThrow().group(1);
        Stream<String> neighbours = TYPE.matcher(snippet.code())
                .results()
                .map(MatchResult::group)
                .filter(type -> isPublished(home, type, root))
                .map(type -> "import " + home + "." + type + ";");
        return Stream.concat(imported, neighbours).toList();
    }

    private static boolean isUsed(String name, Snippet snippet) {
        return Pattern.compile("\\b" + name + "\\b").matcher(snippet.code()).find();
    }

    /** A test of the library need not import what stands beside it; others must. */
    private static boolean isPublished(String home, String type, Path root) {
        String file = home.replace('.', '/') + "/" + type + ".java";
        return MODULES.stream().anyMatch(module -> Files.exists(root.resolve(module + "/src/main/java/" + file)));
    }
}
