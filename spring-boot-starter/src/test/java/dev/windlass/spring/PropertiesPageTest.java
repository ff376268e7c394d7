package dev.windlass.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.base.QueueOptions;
import dev.windlass.base.WindlassOptions;
import dev.windlass.health.HealthOptions;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.store.FleetOptions;
import dev.windlass.work.WorkOptions;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.convert.DurationStyle;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The table of properties in the docs is made of what Spring Boot's editors know of them, and of the defaults of the options. */
final class PropertiesPageTest {
    private static final Path PAGE = Path.of("..", "docs", "spring-boot.md");
    private static final Path DEFAULTS =
            Path.of("src", "main", "resources", "META-INF", "additional-spring-configuration-metadata.json");
    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern TABLE =
            Pattern.compile("(?<=<!-- properties -->\n).*?(?=<!-- end of properties -->)", Pattern.DOTALL);

    /** Where the defaults are. */
    private static final Map<String, List<Record>> OPTIONS = Map.ofEntries(
            Map.entry("windlass", List.of(WindlassOptions.defaults())),
            Map.entry(
                    "windlass.outbox",
                    List.of(OutboxOptions.defaults(), OutboxOptions.defaults().queue())),
            Map.entry(
                    "windlass.outbox.handlers",
                    ofHandlers(OutboxOptions.defaults().queue())),
            Map.entry(
                    "windlass.inbox",
                    List.of(InboxOptions.defaults(), InboxOptions.defaults().queue())),
            Map.entry(
                    "windlass.inbox.handlers",
                    ofHandlers(InboxOptions.defaults().queue())),
            Map.entry(
                    "windlass.work",
                    List.of(WorkOptions.defaults(), WorkOptions.defaults().queue())),
            Map.entry(
                    "windlass.work.handlers", ofHandlers(WorkOptions.defaults().queue())),
            Map.entry("windlass.schedule", List.of(ScheduleOptions.defaults())),
            Map.entry("windlass.leases", List.of(LeaseOptions.defaults())),
            Map.entry("windlass.health", List.of(HealthOptions.defaults())),
            Map.entry("windlass.fleet", List.of(FleetOptions.defaults())));

    private static final Map<String, String> OTHER_NAMES = Map.of(
            "table",
            "tableName",
            "schema",
            "schemaName",
            "retryAfter",
            "base",
            "retryAtMostAfter",
            "cap",
            "workers",
            "backgroundWorkers");

    /** The name of the process is no default that a page could tell. */
    private static final Map<String, String> TOLD = Map.of(
            "windlass.node-name",
            "host and process",
            "windlass.enabled",
            "true",
            "windlass.features",
            "all",
            "windlass.fleet.connections",
            "50");

    /** Where each is of its own kind, it is an editor's default; these are words for readers. */
    private static final Set<String> IN_WORDS = Set.of("windlass.node-name", "windlass.features");

    private static JsonNode everything() throws IOException {
        try (var file = Objects.requireNonNull(
                WindlassProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json"))) {
            return JSON.readTree(file);
        }
    }

    private static JsonNode metadata() throws IOException {
        return everything().get("properties");
    }

    /** What is given by hand, and the default of each property that has one. */
    private static String withDefaults() throws IOException {
        ObjectNode file = (ObjectNode) JSON.readTree(Files.readString(DEFAULTS));
        Map<String, JsonNode> told = new TreeMap<>();
        file.get("properties").forEach(each -> {
            if (each.has("type")) {
                told.put(name(each), each);
            }
        });
        metadata().forEach(each -> {
            Object its = defaultValue(each);
            if (its != null) {
                told.put(
                        name(each),
                        JSON.createObjectNode().put("name", name(each)).putPOJO("defaultValue", its));
            }
        });
        file.putArray("properties").addAll(told.values());
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(file) + "\n";
    }

    private static @Nullable Object defaultValue(JsonNode property) {
        String shown = defaultOf(name(property));
        if (shown.isEmpty() || IN_WORDS.contains(name(property))) {
            return null;
        }
        return switch (property.get("type").asString()) {
            case "java.lang.Integer" -> Integer.valueOf(shown);
            case "java.lang.Double" -> Double.valueOf(shown);
            case "java.lang.Boolean" -> Boolean.valueOf(shown);
            default -> shown;
        };
    }

    private static String table() throws IOException {
        return metadata()
                .valueStream()
                .sorted((one, other) -> order(one).compareTo(order(other)))
                .map(PropertiesPageTest::row)
                .collect(Collectors.joining("\n", "| property | default | |\n|---|---|---|\n", "\n"));
    }

    /** Those of Windlass itself first, then by feature. */
    private static String order(JsonNode property) {
        String name = name(property);
        return name.split("\\.", -1).length + (name.startsWith("windlass.health") ? "z" : "") + name;
    }

    private static String name(JsonNode property) {
        return property.get("name").asString();
    }

    private static String row(JsonNode property) {
        JsonNode told = property.get("description");
        return "| `" + name(property) + "` | " + defaultOf(name(property)) + " | "
                + (told == null ? "" : told.asString()) + " |";
    }

    private static String defaultOf(String name) {
        int dot = name.lastIndexOf('.');
        String component = component(name.substring(dot + 1));
        return TOLD.getOrDefault(
                name,
                OPTIONS.getOrDefault(name.substring(0, dot), List.of()).stream()
                        .flatMap(options -> Stream.of(options.getClass().getRecordComponents())
                                .filter(each -> each.getName().equals(component))
                                .map(each -> shown(value(options, each))))
                        .findFirst()
                        .orElse(""));
    }

    private static List<Record> ofHandlers(QueueOptions queue) {
        return List.of(queue.handlers(), queue.handlers().retry());
    }

    private static String component(String property) {
        String camel = Pattern.compile("-(.)")
                .matcher(property)
                .replaceAll(dash -> dash.group(1).toUpperCase(Locale.ROOT));
        return OTHER_NAMES.getOrDefault(camel, camel);
    }

    private static Object value(Record options, RecordComponent component) {
        try {
            return Objects.requireNonNull(component.getAccessor().invoke(options));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String shown(Object value) {
        if (value instanceof Duration duration) {
            return duration.toMillisPart() > 0
                    ? DurationStyle.SIMPLE.print(duration, ChronoUnit.MILLIS)
                    : duration.toHours() % 24 == 0 && duration.toDays() > 0
                            ? DurationStyle.SIMPLE.print(duration, ChronoUnit.DAYS)
                            : duration.toString().substring("PT".length()).toLowerCase(Locale.ROOT);
        }
        return value instanceof Enum<?> constant ? constant.name().toLowerCase(Locale.ROOT) : value.toString();
    }

    @Test
    void editorsKnowTheDefaultOfEveryPropertyAndWhichBeansAreMeant() throws IOException {
        if (Boolean.getBoolean("update.docs")) {
            Files.writeString(DEFAULTS, withDefaults());
            return;
        }
        assertThat(Files.readString(DEFAULTS))
                .as(DEFAULTS + "; run this test with -Dupdate.docs=true to write its defaults")
                .isEqualTo(withDefaults());
        Map<String, JsonNode> known =
                metadata().valueStream().collect(Collectors.toMap(PropertiesPageTest::name, each -> each));
        assertThat(known.get("windlass.outbox.lease")).hasToString("""
                {"name":"windlass.outbox.lease","type":"java.time.Duration",\
                "description":"how long a claimed message stays claimed without a heartbeat",\
                "sourceType":"dev.windlass.spring.WindlassProperties$OutboxProperties","defaultValue":"30s"}""");
        assertThat(Objects.requireNonNull(known.get("windlass.health.backlog-degraded"))
                        .get("defaultValue")
                        .asInt())
                .isEqualTo(10_000);
        assertThat(everything().get("hints").valueStream().map(PropertiesPageTest::name))
                .containsExactlyInAnyOrder(
                        "windlass.data-source", "windlass.stores.*.data-source", "windlass.transaction-manager");
    }

    @Test
    void everyPropertyOfAStoreIsKnown() throws IOException {
        assertThat(metadata().valueStream().map(PropertiesPageTest::name))
                .containsAll(Stream.of(WindlassProperties.StoreProperties.class.getRecordComponents())
                        .map(each -> "windlass.stores.*."
                                + each.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                        .toList());
    }

    @Test
    void thePageTellsEveryPropertyWithItsDefault() throws IOException {
        String page = Files.readString(PAGE);
        String complete = TABLE.matcher(page).replaceFirst(Matcher.quoteReplacement(table()));
        if (Boolean.getBoolean("update.docs")) {
            Files.writeString(PAGE, complete);
            return;
        }
        assertThat(page)
                .as("docs/spring-boot.md; run this test with -Dupdate.docs=true to write its table of properties")
                .isEqualTo(complete)
                .contains(
                        "| `windlass.outbox.lease` | 30s | how long a claimed message stays claimed without a heartbeat |")
                .contains("| `windlass.inbox.handlers.max-attempts` | 10 |")
                .contains("| `windlass.inbox.max-attempts` | 5 |");
    }
}
