package dev.windlass.internal.support;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Headers as JSON: a flat object of texts, which is all the JSON the core needs to know. */
public final class Headers {
    private final String json;
    private int at;

    private Headers(String json) {
        this.json = json;
    }

    public static @Nullable String write(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        StringBuilder out = new StringBuilder("{");
        new TreeMap<>(headers).forEach((name, value) -> {
            out.append(out.length() == 1 ? "" : ",");
            quote(out, name);
            quote(out.append(':'), value);
        });
        return out.append('}').toString();
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append("\\u%04x".formatted((int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    public static Map<String, String> read(@Nullable String json) {
        return json == null ? Map.of() : new Headers(json).object();
    }

    private Map<String, String> object() {
        Map<String, String> headers = new LinkedHashMap<>();
        expect('{');
        while (peek() != '}') {
            String name = text();
            expect(':');
            headers.put(name, peek() == '"' ? text() : bare());
            if (peek() == ',') {
                at++;
            }
        }
        return Map.copyOf(headers);
    }

    private char peek() {
        while (Character.isWhitespace(json.charAt(at))) {
            at++;
        }
        return json.charAt(at);
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw new IllegalStateException(
                    "expected headers as a JSON object of texts, got something else at index " + at);
        }
        at++;
    }

    private String text() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (json.charAt(at) != '"') {
            out.append(json.charAt(at) == '\\' ? escaped() : json.charAt(at));
            at++;
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char c = json.charAt(++at);
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> {
                at += 4;
                yield (char) Integer.parseInt(json.substring(at - 3, at + 1), 16);
            }
            default -> c;
        };
    }

    /** A number, true, false or null, or something nested, written by somebody else: kept as its text. */
    private String bare() {
        int start = at;
        int depth = 0;
        for (boolean quoted = false; ; at++) {
            char c = json.charAt(at);
            if (quoted) {
                at += c == '\\' ? 1 : 0;
                quoted = c != '"';
            } else if (c == '"') {
                quoted = true;
            } else if (c == '{' || c == '[') {
                depth++;
            } else if (depth == 0 && (c == ',' || c == '}')) {
                return json.substring(start, at).strip();
            } else if (c == '}' || c == ']') {
                depth--;
            }
        }
    }
}
