package dev.windlass.cli;

import dev.windlass.base.WindlassOptions;
import dev.windlass.store.Store;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A file of stores. A line {@code north = URL} is a store, lines {@code north.schema}, {@code north.user} and {@code north.password}
 * are what its URL does not say. A value is all that is right of the first equals sign, without blanks around it; nothing is escaped.
 *
 * <p>Errors tell the line and the key, and never a value but a URL, which is masked.
 */
final class StoresFile {
    private static final Set<String> PARTS = Set.of("schema", "user", "password");

    private final Map<String, Line> lines = new LinkedHashMap<>();

    /**
     * @param number counted from one
     */
    private record Line(int number, String value) {}

    /** What the file says of a store. */
    record Entry(String id, Target target, Optional<String> schema) {}

    private StoresFile(List<String> text) {
        for (int i = 0; i < text.size(); i++) {
            String line = text.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                add(i + 1, line);
            }
        }
    }

    /**
     * All stores of a file, in its order.
     *
     * @throws IllegalArgumentException if it has none, or a line that cannot be read
     */
    static List<Entry> read(Path path) {
        StoresFile file = new StoresFile(text(path));
        file.lines.forEach(file::check);
        List<Entry> entries = new ArrayList<>();
        file.lines.forEach((key, line) -> {
            if (isStore(key)) {
                entries.add(file.entry(key, line));
            }
        });
        if (entries.isEmpty()) {
            throw new IllegalArgumentException(
                    "expected a line such as north = jdbc:postgresql://host:5432/database, found no store");
        }
        return entries;
    }

    private static List<String> text(Path path) {
        try {
            return Files.readString(path).replaceFirst("^\uFEFF", "").lines().toList(); // some editors mark UTF-8 so
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("expected text in UTF-8, found something else", e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "expected a file that can be read, got " + e.getClass().getSimpleName(), e);
        }
    }

    private void add(int number, String line) {
        int equals = line.indexOf('=');
        if (equals < 0) {
            throw wrong(number, "expected a key, an equals sign and a value, found no equals sign");
        }
        String key = line.substring(0, equals).strip();
        String value = line.substring(equals + 1).strip();
        String word = key.split("\\s", 2)[0];
        if (!isStore(word) && !word.equals(key)) { // what follows may be a password that has an equals sign in it
            throw wrong(number, "expected an equals sign after '" + word + "', found something else");
        }
        if (value.isEmpty()) {
            throw wrong(number, "expected a value for '" + key + "', found none; leave the line out if there is none");
        }
        Line before = lines.putIfAbsent(key, new Line(number, value));
        if (before != null) {
            throw wrong(number, "expected each key once, got '" + key + "' again, which is in line " + before.number);
        }
    }

    private void check(String key, Line line) {
        if (isStore(key)) {
            checkId(key, line);
            return;
        }
        String id = key.substring(0, key.indexOf('.'));
        if (!PARTS.contains(key.substring(id.length() + 1))) {
            throw wrong(
                    line.number,
                    "expected the identifier of a store, which has no dot, or one with .schema, .user or .password, got '"
                            + key + "'");
        }
        if (!lines.containsKey(id)) {
            throw wrong(line.number, "expected a line '" + id + " = URL' beside '" + key + "', found none");
        }
    }

    private static void checkId(String id, Line line) {
        if (!id.matches("[^\\s\\p{C}]+")) {
            throw wrong(line.number, "expected the identifier of a store without blanks, got '" + id + "'");
        }
        accept(line, () -> Store.of(id, new PGSimpleDataSource()));
    }

    private static boolean isStore(String key) {
        return key.indexOf('.') < 0;
    }

    private Entry entry(String id, Line line) {
        Optional<String> schema = Optional.ofNullable(part(id, "schema"));
        schema.ifPresent(name -> accept(
                lines.getOrDefault(id + ".schema", line),
                () -> WindlassOptions.defaults().withSchemaName(name)));
        accept(line, () -> new Target(line.value, null, null));
        return new Entry(id, new Target(line.value, part(id, "user"), part(id, "password")), schema);
    }

    private @Nullable String part(String id, String name) {
        Line line = lines.get(id + "." + name);
        return line == null ? null : line.value;
    }

    private static void accept(Line line, Runnable attempt) {
        try {
            attempt.run();
        } catch (IllegalArgumentException e) {
            throw wrong(line.number, String.valueOf(e.getMessage()));
        }
    }

    private static IllegalArgumentException wrong(int line, String sentence) {
        return new IllegalArgumentException("line " + line + ": " + sentence);
    }
}
