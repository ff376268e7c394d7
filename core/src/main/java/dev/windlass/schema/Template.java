package dev.windlass.schema;

import dev.windlass.runtime.Dialect;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A SQL file of an engine, with the names of one installation put in, quoted. */
final class Template {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w+)}");

    private final Dialect dialect;
    private final String schema;

    Template(Dialect dialect, String schema) {
        this.dialect = dialect;
        this.schema = schema;
    }

    String render(String file) {
        return fill(read(file), "", "", "");
    }

    String render(String file, Component component) {
        return render(file, component, "");
    }

    String render(String file, Component component, String role) {
        return fill(read(file), component.name(), component.tableName(), role);
    }

    private String fill(String text, String component, String table, String role) {
        return PLACEHOLDER
                .matcher(text)
                .replaceAll(match -> Matcher.quoteReplacement(name(match, component, table, role)));
    }

    private String name(MatchResult match, String component, String table, String role) {
        String key = match.group(1);
        return switch (key) {
            case "schema" -> dialect.quote(schema);
            case "schema_name" -> dialect.literal(schema);
            case "role" -> dialect.quote(role);
            case "channel" -> dialect.literal(Channel.of(schema, table));
            default -> {
                if (component.isEmpty() || !key.startsWith(component)) {
                    throw new IllegalStateException("unknown placeholder {" + key + "}");
                }
                yield dialect.quote(table + key.substring(component.length()));
            }
        };
    }

    private String read(String file) {
        String path = dialect.name() + "/" + file;
        try (InputStream in = Template.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("the SQL file " + path + " is missing from the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
