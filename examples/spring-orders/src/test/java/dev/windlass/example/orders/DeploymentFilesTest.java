package dev.windlass.example.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.io.ByteArrayResource;

/** What can be said of Dockerfile and compose.yaml where there is no Docker. */
final class DeploymentFilesTest {
    private static final Path HERE = Path.of("").toAbsolutePath();
    private static final Path ROOT = HERE.resolve("../..").normalize();

    private static String file(String name) throws IOException {
        return Files.readString(HERE.resolve(name));
    }

    /** The instructions of a Dockerfile, of which one may go over several lines. */
    private static List<String> instructions() throws IOException {
        return Stream.of(file("Dockerfile").replaceAll("\\\\\n\\s*", "").split("\n", -1))
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();
    }

    /** Those of the image itself, not of what builds it. */
    private static List<String> last(String name) throws IOException {
        List<String> all = new ArrayList<>();
        for (String line : instructions()) {
            if (line.startsWith("FROM ")) {
                all.clear();
            } else if (line.startsWith(name + " ")) {
                all.add(line.substring(name.length() + 1));
            }
        }
        return all;
    }

    /** As properties, with what Docker puts in for ${NAME:-default}. */
    private static Properties compose() throws IOException {
        return yaml(file("compose.yaml").replaceAll("\\$\\{\\w+:-([^}]*)}", "$1"));
    }

    private static Properties application() throws IOException {
        return yaml(file("src/main/resources/application.yaml"));
    }

    private static Properties yaml(String text) {
        YamlPropertiesFactoryBean yaml = new YamlPropertiesFactoryBean();
        yaml.setResources(new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)));
        return Objects.requireNonNull(yaml.getObject());
    }

    private static Duration duration(Properties of, String name) {
        return DurationStyle.detectAndParse(String.valueOf(of.get(name)));
    }

    /** Of two applications among the tests, it would take the one that is annotated. */
    @Test
    void testRunStartsTheApplicationWithItsOwnDatabase() throws IOException {
        assertThat(file("pom.xml"))
                .contains("<spring-boot.run.main-class>" + TestOrdersApplication.class.getName()
                        + "</spring-boot.run.main-class>");
    }

    @Test
    void theImageRunsAsSomebodyWhoIsNotRootByNumber() throws IOException {
        assertThat(last("USER")).singleElement().asString().matches("[1-9]\\d*:[1-9]\\d*");
    }

    @Test
    void javaIsTheFirstProcessOfTheImageAndHearsTheSignal() throws IOException {
        assertThat(last("ENTRYPOINT"))
                .singleElement()
                .asString()
                .startsWith("[\"java\", ")
                .endsWith("\"-jar\", \"orders.jar\"]");
        assertThat(last("STOPSIGNAL")).containsExactly("SIGTERM");
    }

    @Test
    void theImageTellsHowItIs() throws IOException {
        assertThat(last("HEALTHCHECK")).singleElement().asString().contains("/actuator/health/liveness");
        assertThat(application())
                .containsEntry("management.endpoint.health.probes.enabled", true)
                .hasEntrySatisfying(
                        "management.endpoints.web.exposure.include",
                        exposed -> assertThat(exposed.toString()).contains("health"));
    }

    @Test
    void whatIsCopiedIntoTheBuildIsThereAndIsSentToDocker() throws IOException {
        List<String> sources = instructions().stream()
                .filter(line -> line.startsWith("COPY ") && !line.contains("--from="))
                .map(line -> line.split(" ", -1)[1])
                .toList();
        List<String> sent = file("Dockerfile.dockerignore")
                .lines()
                .filter(line -> line.startsWith("!"))
                .map(line -> line.substring(1))
                .toList();
        assertThat(sources).isNotEmpty().allSatisfy(source -> {
            assertThat(ROOT.resolve(source)).exists();
            assertThat(sent).containsAnyOf(source, source.replaceFirst("^[^/]+/", "*/"));
        });
        assertThat(file("Dockerfile.dockerignore").lines()).contains("*");
        List<String> modules = Pattern.compile("<module>(.*?)</module>")
                .matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(found -> found.group(1) + "/pom.xml")
                .toList();
        assertThat(sources).containsAll(modules);
    }

    @Test
    void everyLayerIsCopiedWhatChangesSeldomFirst() throws IOException {
        assertThat(last("COPY").stream().map(copy -> copy.replaceAll("--from=build /layers/(.*)/ \\./", "$1")))
                .containsExactly("dependencies", "spring-boot-loader", "snapshot-dependencies", "application");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Dockerfile", "compose.yaml", "src/main/resources/application.yaml"})
    void noFileHoldsAPassword(String name) throws IOException {
        assertThat(file(name)
                        .lines()
                        .map(String::strip)
                        .filter(line -> !line.startsWith("#"))
                        .filter(line -> line.matches("(?i).*passw(or)?d\\W*[:=]\\s*\\S.*"))
                        .filter(line -> !line.matches("POSTGRES_PASSWORD_FILE: /run/secrets/database-password")))
                .isEmpty();
    }

    @Test
    void thePasswordIsAFileThatSpringBootReadsAsAProperty() throws IOException {
        assertThat(compose())
                .containsEntry("services.orders.secrets[0].source", "database-password")
                .containsEntry("services.orders.secrets[0].target", "spring.datasource.password")
                .containsEntry("secrets.database-password.file", "./secrets/database-password");
        assertThat(application()).containsEntry("spring.config.import", "optional:configtree:/run/secrets/");
        assertThat(file("README.md")).contains("examples/spring-orders/secrets/database-password");
        assertThat(file(".gitignore").lines()).contains("secrets/");
    }

    @Test
    void theServiceStartsAfterTheDatabaseAndIsGivenTimeToEnd() throws IOException {
        Properties compose = compose();
        assertThat(compose)
                .containsEntry("services.orders.depends_on.database.condition", "service_healthy")
                .containsEntry("services.orders.restart", "unless-stopped")
                .containsEntry("services.orders.read_only", true)
                .containsEntry("services.orders.cap_drop[0]", "ALL");
        Properties application = application();
        assertThat(duration(compose, "services.orders.stop_grace_period"))
                .isGreaterThanOrEqualTo(duration(application, "windlass.shutdown-grace")
                        .plus(duration(application, "spring.lifecycle.timeout-per-shutdown-phase"))
                        .plusSeconds(5));
    }

    @Test
    void portsAreOpenOnThisMachineOnly() throws IOException {
        Properties compose = compose();
        assertThat(Stream.of("services.orders.ports[0]", "services.database.ports[0]")
                        .map(compose::get))
                .allSatisfy(port -> assertThat(port.toString()).matches("127\\.0\\.0\\.1:\\d+:\\d+"));
    }

    /** Also that each variable stands for a property, so that none is a slip of the pen. */
    @Test
    void composeSetsWhatTheApplicationAsksFor() throws IOException {
        String asked = file("src/main/resources/application.yaml");
        Map<Object, Object> compose = compose();
        List<String> variables = compose.keySet().stream()
                .map(Object::toString)
                .filter(key -> key.startsWith("services.orders.environment."))
                .map(key -> key.substring("services.orders.environment.".length()))
                .toList();
        assertThat(variables)
                .isNotEmpty()
                .allSatisfy(name -> assertThat(asked.contains("${" + name + ":")
                                || Arrays.asList("SPRING_PROFILES_ACTIVE", "ORDERS_REMIND_AFTER")
                                        .contains(name))
                        .as(name)
                        .isTrue());
    }
}
