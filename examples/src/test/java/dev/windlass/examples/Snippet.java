package dev.windlass.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A piece of code in a document that says where it comes from:
 * <pre>
 * &lt;!-- snippet: path/from/the/root/File.java#region --&gt;
 * ```java
 * </pre>
 * The region lies between {@code // tag::region} and {@code // end::region}, in SQL with {@code --} instead of {@code //}.
 */
record Snippet(String file, String region, String code) {
    private static final Pattern MARK = Pattern.compile("<!-- snippet: (\\S+)#(\\S+) -->\n");
    private static final Pattern BLOCK = Pattern.compile("```(?:java|js|sql)\n(.*?)\n```\n", Pattern.DOTALL);

    static List<Snippet> in(String document) {
        List<Snippet> snippets = new ArrayList<>();
        Matcher mark = MARK.matcher(document);
        while (mark.find()) {
            Matcher block = BLOCK.matcher(document).region(mark.end(), document.length());
            if (!block.lookingAt()) {
                throw new IllegalStateException("expected a block of java, js or sql after "
                        + mark.group().strip());
            }
            snippets.add(new Snippet(mark.group(1), mark.group(2), block.group(1)));
        }
        return snippets;
    }

    String source(Path root) throws IOException {
        String source = Files.readString(root.resolve(file));
        Matcher found = Pattern.compile(
                        "(?://|--) tag::%1$s\n(.*?)\n *(?://|--) end::%1$s\n".formatted(Pattern.quote(region)),
                        Pattern.DOTALL)
                .matcher(source);
        if (!found.find()) {
            throw new IllegalStateException("expected tag::" + region + " in " + file);
        }
        return found.group(1)
                .stripIndent()
                .lines()
                .filter(line -> !line.strip().matches("(//|--) (tag|end)::.*"))
                .collect(Collectors.joining("\n"));
    }
}
