package dev.windlass.internal.schema;

import dev.windlass.internal.database.Dialect;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A SQL file of an engine, with the names of one installation put in, quoted.
 *
 * <p>{@code {outbox_x}} stands for a name of the component, {@code {queue_x}} for one of the queue that a file is rendered for,
 * {@code {slot:x}} for whole statements of that queue, {@code {plan:x}} for settings of the planner.
 */
final class Template {
    private static final Pattern SLOT = Pattern.compile("(?m)^ *\\{slot:(\\w+)}\\n");
    private static final Pattern PLAN = Pattern.compile("(?m)^\\{plan:(\\w+)}\\n");
    private static final Pattern ROUTINE =
            Pattern.compile("(?m)^create or replace function (\\{schema}\\.[\\w{}]+)\\(");
    /** PostgreSQL lets no such routine change anything. */
    private static final Pattern READING_ROUTINE = Pattern.compile(
            "(?m)^create or replace function (\\{schema}\\.[\\w{}]+)\\(.*\\n(?:(?!as \\$sql).*\\n)*?    stable$");

    private static final String IN_SCHEMA = "{schema}.";

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w+)}");
    private static final String CHANNEL = "_channel";
    private static final String QUEUE = "queue";

    /** What Java takes for blanks. */
    private static final String BLANKS =
            "E' \\t\\n\\x0b\\f\\r\\x1c\\x1d\\x1e\\x1f\\u1680\\u2000\\u2001\\u2002\\u2003\\u2004\\u2005\\u2006"
                    + "\\u2008\\u2009\\u200a\\u2028\\u2029\\u205f\\u3000'";

    /** Every start of a program asks for them: to read them from 17,000 lines of SQL took it 30 ms. */
    private static final Map<Source, List<String>> ROUTINES = new ConcurrentHashMap<>();

    private final Dialect dialect;
    private final String schema;

    /** What the text of a routine depends on, but for the names of one installation. */
    private record Source(String dialect, Component.Step step) {}

    Template(Dialect dialect, String schema) {
        this.dialect = dialect;
        this.schema = schema;
    }

    String render(Component.Step step, Component component) {
        return fill(fillPlans(text(step)), names(component, "", step.queue()));
    }

    /** The names of the routines of a component, quoted, without the schema. */
    List<String> routines(Component component) {
        return component.steps().stream()
                .flatMap(step -> routines(step).stream()
                        .map(name -> fill(name.substring(IN_SCHEMA.length()), names(component, "", step.queue()))))
                .toList();
    }

    private List<String> routines(Component.Step step) {
        return ROUTINES.computeIfAbsent(new Source(dialect.name(), step), source -> found(ROUTINE, step));
    }

    private List<String> found(Pattern routine, Component.Step step) {
        return routine.matcher(text(step))
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    /** What a role needs for the tables of a component, and for each of its routines. */
    String grants(Component component, String role) {
        return fill(read(component.name() + "_grants.sql"), names(component, role, null))
                + execute(component, role, ROUTINE);
    }

    /** What a role needs to look at a component, but for what messages say, and to call what changes nothing. */
    String reads(Component component, String role) {
        String queues = component.steps().stream()
                .flatMap(step -> Stream.ofNullable(step.queue()))
                .distinct()
                .map(queue -> fill(read("queue_reads.sql"), names(component, role, queue)))
                .collect(Collectors.joining());
        return fill(read(component.name() + "_reads.sql"), names(component, role, null))
                + queues
                + execute(component, role, READING_ROUTINE);
    }

    private String execute(Component component, String role, Pattern routine) {
        String routines = component.steps().stream()
                .flatMap(step ->
                        found(routine, step).stream().map(name -> fill(name, names(component, role, step.queue()))))
                .distinct()
                .collect(Collectors.joining(",\n      "));
        return "grant execute\n   on function " + routines + "\n   to " + dialect.quote(role) + ";\n";
    }

    private static Names names(Component component, String role, Component.@Nullable Queue queue) {
        return new Names(component.prefix(), component.tableName(), role, queue);
    }

    /** A file with the statements that a queue has of its own. */
    private String text(Component.Step step) {
        String text = read(step.file());
        return step.queue() == null ? text : fillSlots(text, step.queue().slots());
    }

    private record Names(String component, String table, String role, Component.@Nullable Queue queue) {}

    private String fillSlots(String text, @Nullable String slots) {
        String own = slots == null ? "" : read(slots);
        return SLOT.matcher(text).replaceAll(match -> Matcher.quoteReplacement(slot(own, match.group(1))));
    }

    /** The statements that stand below the name of their place, up to the next. */
    private static String slot(String own, String name) {
        Matcher statements = Pattern.compile("(?ms)^-- \\{slot:" + name + "}[^\\n]*\\n(.*?)(?=^-- \\{slot:|\\z)")
                .matcher(own);
        return statements.find() ? statements.group(1) : "";
    }

    private String fillPlans(String text) {
        return text.contains("{plan:")
                ? PLAN.matcher(text).replaceAll(match -> Matcher.quoteReplacement(plan(match.group(1))))
                : text;
    }

    /** The settings that stand below its name in the file of plans. */
    private String plan(String name) {
        Matcher settings = Pattern.compile("(?m)^-- \\{plan:" + name + "}.*\\n((?: +set .*\\n)+)")
                .matcher(read("plans.sql"));
        if (!settings.find()) {
            throw new IllegalStateException("unknown placeholder {plan:" + name + "}");
        }
        return settings.group(1);
    }

    private String fill(String text, Names names) {
        return PLACEHOLDER.matcher(text).replaceAll(match -> Matcher.quoteReplacement(value(match, names)));
    }

    private String value(MatchResult match, Names names) {
        String key = match.group(1);
        return switch (key) {
            case "schema" -> dialect.quote(schema);
            case "schema_name" -> dialect.literal(schema);
            case "role" -> dialect.quote(names.role);
            case "channel" -> channel(names.queue == null ? "" : names.queue.suffix(), names);
            case "blanks" -> BLANKS;
            default -> name(key, names);
        };
    }

    private String name(String key, Names names) {
        Component.Queue queue = names.queue;
        if (queue != null && key.equals("keeps")) {
            return Boolean.toString(queue.keeps());
        }
        if (queue != null && key.equals("keyed")) {
            return Boolean.toString(queue.ranked());
        }
        if (queue != null && key.equals("priorities")) {
            return queue.ranked() ? "array[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]" : "array[4]";
        }
        if (queue != null && key.equals("queue_name")) {
            return dialect.literal(names.table + queue.suffix());
        }
        if (queue != null && key.startsWith(QUEUE)) {
            return dialect.quote(names.table + queue.suffix() + key.substring(QUEUE.length()));
        }
        if (key.equals(names.component + "_name")) {
            return dialect.literal(names.table);
        }
        if (!key.startsWith(names.component)) {
            throw new IllegalStateException("unknown placeholder {" + key + "}");
        }
        String suffix = key.substring(names.component.length());
        return suffix.endsWith(CHANNEL)
                ? channel(suffix.substring(0, suffix.length() - CHANNEL.length()), names)
                : dialect.quote(names.table + suffix);
    }

    private String channel(String suffix, Names names) {
        return dialect.literal(Channel.of(schema, names.table + suffix));
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
