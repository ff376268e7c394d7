package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** What can be said of the files in deploy/ where there is neither Docker nor Kubernetes. */
final class DeploymentFilesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** After the grace outcomes are written, for two seconds at most, and connections closed. */
    private static final Duration AFTER_THE_GRACE = Duration.ofSeconds(5);

    private static String file(String name) throws IOException {
        return Files.readString(ROOT.resolve("deploy").resolve(name));
    }

    /** What Docker puts in for ${NAME:-default} where nobody has set NAME. */
    private static String unset(String text) {
        return text.replaceAll("\\$\\{\\w+:-([^}]*)}", "$1");
    }

    private static Yaml compose() throws IOException {
        return Yaml.documents(unset(file("compose.yaml"))).get(0);
    }

    private static Yaml kubernetes(String kind) throws IOException {
        return Yaml.documents(file("kubernetes.yaml")).stream()
                .filter(document -> document.at("kind").text().equals(kind))
                .findFirst()
                .orElseThrow();
    }

    private static Yaml pod() throws IOException {
        return kubernetes("Deployment").at("spec", "template", "spec");
    }

    private static Dockerfile dockerfile() throws IOException {
        return Dockerfile.parse(file("Dockerfile"));
    }

    private static Map<String, String> unit() throws IOException {
        return settings(file("windlass.service"));
    }

    private static Map<String, String> settings(String text) {
        Map<String, String> settings = new HashMap<>();
        text.lines()
                .filter(line -> line.matches("[A-Za-z_]+=.*"))
                .forEach(line -> settings.put(line.split("=", 2)[0], line.split("=", 2)[1]));
        return settings;
    }

    /** As the program would read it: words that are no command, options and values that are none are errors. */
    private static CommandSpec parsed(List<String> words, Map<String, String> environment) {
        CommandLine.ParseResult parsed = Main.commandLine(environment).parseArgs(words.toArray(String[]::new));
        while (parsed.hasSubcommand()) {
            parsed = parsed.subcommand();
        }
        return parsed.commandSpec();
    }

    private static void assertUnderstood(List<String> words, Map<String, String> environment) {
        Map<String, String> ours = environment.entrySet().stream()
                .filter(variable -> variable.getKey().startsWith("WINDLASS_"))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        CommandSpec command = parsed(words, ours);
        Set<String> known = command.options().stream()
                .map(Variables::nameFor)
                .flatMap(Optional::stream)
                .collect(Collectors.toSet());
        assertThat(ours.keySet()).as("variables of %s", command.qualifiedName()).isSubsetOf(known);
    }

    private static Map<String, String> environment(Yaml place) {
        return place.keys().stream()
                .collect(Collectors.toMap(name -> name, name -> place.at(name).text()));
    }

    /** Of a container: its own variables over those of the map that all have. */
    private static Map<String, String> environmentOf(Yaml container) throws IOException {
        Map<String, String> environment = new HashMap<>();
        if (container.at("args", 0).text().equals("serve")) {
            environment.putAll(environment(kubernetes("ConfigMap").at("data")));
        }
        container.at("env").all().stream()
                .filter(variable -> variable.has("value"))
                .forEach(variable -> environment.put(
                        variable.at("name").text(), variable.at("value").text()));
        return environment;
    }

    private static Duration seconds(String text) {
        return Duration.parse("PT" + text);
    }

    private static void assertLongEnough(Duration patience, String grace) {
        assertThat(patience).isGreaterThanOrEqualTo(seconds(grace).plus(AFTER_THE_GRACE));
    }

    @Test
    void theImageRunsAsSomebodyWhoIsNotRootByNumber() throws IOException {
        List<Dockerfile.Instruction> users = dockerfile().last("USER");
        assertThat(users).hasSize(1);
        assertThat(users.get(0).rest()).matches("[1-9]\\d*:[1-9]\\d*");
    }

    @Test
    void javaIsTheFirstProcessOfTheImageAndHearsTheSignal() throws IOException {
        Dockerfile file = dockerfile();
        assertThat(file.last("ENTRYPOINT")).hasSize(1).allMatch(Dockerfile.Instruction::isExecForm);
        assertThat(file.last("ENTRYPOINT").get(0).words()).startsWith("java").endsWith(Main.class.getName());
        assertThat(file.last("CMD")).hasSize(1).allMatch(Dockerfile.Instruction::isExecForm);
        assertThat(file.last("STOPSIGNAL")).extracting("rest").containsExactly("SIGTERM");
    }

    @Test
    void theImageTellsHowItIsAndItsCommandExists() throws IOException {
        Dockerfile file = dockerfile();
        assertThat(file.last("HEALTHCHECK")).hasSize(1);
        assertThat(file.last("HEALTHCHECK").get(0).rest()).contains("/health/live");
        assertUnderstood(file.last("CMD").get(0).words(), Map.of());
    }

    @Test
    void whatIsCopiedIntoTheBuildIsThereAndIsSentToDocker() throws IOException {
        List<Dockerfile.Instruction> fromHere = dockerfile().all("COPY").stream()
                .filter(copy -> !copy.rest().contains("--from="))
                .toList();
        List<String> sources =
                fromHere.stream().flatMap(copy -> copy.sources().stream()).toList();
        assertThat(sources)
                .isNotEmpty()
                .allSatisfy(source -> assertThat(ROOT.resolve(source)).exists());
        Set<String> sent = file("Dockerfile.dockerignore")
                .lines()
                .filter(line -> line.startsWith("!"))
                .map(line -> line.substring(1))
                .collect(Collectors.toSet());
        assertThat(sources)
                .allSatisfy(source -> assertThat(sent).containsAnyOf(source, source.replaceFirst("^[^/]+/", "*/")));
        assertThat(file("Dockerfile.dockerignore").lines()).contains("*");
    }

    /** Also those of the examples, whose own tests need plugins that not everybody has at hand. */
    private static List<Path> everyDockerfile() throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = String.valueOf(folder.getFileName());
                return name.equals("target") || name.equals(".git")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.endsWith("Dockerfile")) {
                    files.add(ROOT.relativize(file));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    @Test
    void everyDockerfileIsFound() throws IOException {
        assertThat(everyDockerfile())
                .contains(Path.of("deploy", "Dockerfile"), Path.of("examples", "spring-orders", "Dockerfile"));
    }

    /** Maven refuses a build in which the folder of a module is missing. */
    @ParameterizedTest
    @MethodSource("everyDockerfile")
    void everyModuleOfTheBuildIsCopiedToItsPlace(Path name) throws IOException {
        List<String> modules = Pattern.compile("<module>(.*?)</module>")
                .matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(Dockerfile.parse(Files.readString(ROOT.resolve(name))).all("COPY").stream()
                        .map(Dockerfile.Instruction::rest))
                .containsAll(modules.stream()
                        .map(module -> module + "/pom.xml " + module + "/")
                        .toList());
    }

    @Test
    void dependenciesAreALayerOfTheirOwnBelowTheProgram() throws IOException {
        List<Dockerfile.Instruction> copies = dockerfile().last("COPY");
        assertThat(copies).hasSize(2);
        assertThat(copies.get(0).rest()).contains("cli/target/dependency/");
        assertThat(copies.get(1).rest()).contains("windlass-core-*.jar").contains("windlass-cli-*.jar");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Dockerfile", "compose.yaml", "kubernetes.yaml", "windlass.service", "windlass.env"})
    void noFileHoldsAPassword(String name) throws IOException {
        Stream<String> said = file(name)
                .lines()
                .map(String::strip)
                .filter(line -> line.matches("(?i).*passw(or)?d\\W*[:=].*|(?i).*secret\\s*=.*"))
                .filter(line -> !line.matches("(?i).*(_FILE|-password: replace-me|LoadCredential=\\S+:/\\S+).*"))
                .filter(line -> !line.endsWith("database-password:"));
        assertThat(said).isEmpty();
        assertThat(file(name)).doesNotContain("--password ").doesNotContain("password=");
    }

    @Test
    void composeStartsTheDatabaseThenTheMigrationThenTheNode() throws IOException {
        Yaml services = compose().at("services");
        assertThat(services.at("migrate", "depends_on", "database", "condition").text())
                .isEqualTo("service_healthy");
        assertThat(services.at("windlass", "depends_on", "migrate", "condition").text())
                .isEqualTo("service_completed_successfully");
        assertThat(services.at("database", "healthcheck", "test").texts()).contains("pg_isready");
        assertThat(services.at("migrate", "restart").text()).isEqualTo("no");
        assertThat(services.at("windlass", "restart").text()).isEqualTo("unless-stopped");
    }

    @Test
    void composeUnderstandsTheCommandsAndVariables() throws IOException {
        for (String service : List.of("migrate", "windlass")) {
            Yaml described = compose().at("services", service);
            assertUnderstood(described.at("command").texts(), environment(described.at("environment")));
        }
    }

    @Test
    void composeOpensPortsOnThisMachineOnly() throws IOException {
        Yaml services = compose().at("services");
        List<String> ports = new ArrayList<>(services.at("database", "ports").texts());
        ports.addAll(services.at("windlass", "ports").texts());
        assertThat(ports).hasSize(2).allMatch(port -> port.matches("127\\.0\\.0\\.1:\\d+:\\d+"));
    }

    @Test
    void composeKeepsTheDataAndTakesThePasswordFromAFile() throws IOException {
        Yaml compose = compose();
        assertThat(compose.at("services", "database", "volumes").texts())
                .containsExactly("database:/var/lib/postgresql");
        assertThat(compose.at("volumes").keys()).contains("database");
        String secret = "/run/secrets/database-password";
        assertThat(compose.at("services", "database", "environment", "POSTGRES_PASSWORD_FILE")
                        .text())
                .isEqualTo(secret);
        assertThat(compose.at("services", "windlass", "environment", "WINDLASS_PASSWORD_FILE")
                        .text())
                .isEqualTo(secret);
        Path file = Path.of(compose.at("secrets", "database-password", "file").text());
        assertThat(file("README.md")).contains("deploy/" + file.normalize());
        assertThat(file(".gitignore").lines()).contains("secrets/");
    }

    @Test
    void composeWaitsLongerThanTheGrace() throws IOException {
        Yaml node = compose().at("services", "windlass");
        assertLongEnough(
                seconds(node.at("stop_grace_period").text()),
                node.at("environment", "WINDLASS_GRACE").text());
    }

    @Test
    void theUnitRunsTheProgramAsSomebodyWithoutRights() throws IOException {
        Map<String, String> unit = unit();
        assertThat(unit)
                .containsEntry("User", "windlass")
                .containsEntry("Restart", "always")
                .containsEntry("NoNewPrivileges", "yes")
                .containsEntry("ProtectSystem", "strict")
                .containsEntry("CapabilityBoundingSet", "")
                .doesNotContainKey("MemoryDenyWriteExecute");
        List<String> words = List.of(String.valueOf(unit.get("ExecStart")).split(" ", -1));
        int jar = words.indexOf("-jar");
        assertThat(words.get(jar + 1)).endsWith("/windlass.jar");
        assertUnderstood(words.subList(jar + 2, words.size()), settings(file("windlass.env")));
    }

    @Test
    void theUnitTakesSettingsAndThePasswordFromFiles() throws IOException {
        assertThat(unit()).containsEntry("EnvironmentFile", "/etc/windlass/windlass.env");
        assertThat(file("windlass.service"))
                .contains("LoadCredential=database-password:")
                .contains("Environment=WINDLASS_PASSWORD_FILE=%d/database-password");
    }

    @Test
    void theUnitWaitsLongerThanTheGrace() throws IOException {
        assertLongEnough(
                seconds(String.valueOf(unit().get("TimeoutStopSec"))),
                String.valueOf(settings(file("windlass.env")).get("WINDLASS_GRACE")));
    }

    @Test
    void kubernetesUnderstandsTheCommandsAndVariables() throws IOException {
        List<Yaml> containers = new ArrayList<>(pod().at("initContainers").all());
        containers.addAll(pod().at("containers").all());
        assertThat(containers).hasSize(2);
        for (Yaml container : containers) {
            assertUnderstood(container.at("args").texts(), environmentOf(container));
        }
        assertThat(containers.get(0).at("args", 0).text()).isEqualTo("migrate");
    }

    @Test
    void kubernetesAsksWhetherItLivesAndWhetherItIsReady() throws IOException {
        Yaml node = pod().at("containers", 0);
        assertThat(node.at("livenessProbe", "httpGet", "path").text()).isEqualTo("/health/live");
        assertThat(node.at("startupProbe", "httpGet", "path").text()).isEqualTo("/health/live");
        assertThat(node.at("readinessProbe", "httpGet", "path").text()).isEqualTo("/health/ready");
        assertThat(node.at("ports", 0, "name").text())
                .isEqualTo(node.at("livenessProbe", "httpGet", "port").text());
        assertThat(node.at("ports", 0, "containerPort").text())
                .isEqualTo(
                        kubernetes("ConfigMap").at("data", "WINDLASS_HTTP_PORT").text());
    }

    @Test
    void kubernetesWaitsLongerThanTheGrace() throws IOException {
        assertLongEnough(
                seconds(pod().at("terminationGracePeriodSeconds").text() + "s"),
                kubernetes("ConfigMap").at("data", "WINDLASS_GRACE").text());
    }

    @Test
    void kubernetesConfinesEveryContainer() throws IOException {
        Yaml pod = pod();
        assertThat(pod.at("securityContext", "runAsNonRoot").value()).isEqualTo(true);
        assertThat(pod.at("securityContext", "runAsUser").text())
                .isEqualTo(dockerfile().last("USER").get(0).rest().split(":", -1)[0]);
        assertThat(pod.at("enableServiceLinks").value()).isEqualTo(false);
        for (Yaml container : List.of(pod.at("containers", 0), pod.at("initContainers", 0))) {
            assertThat(container.at("securityContext", "readOnlyRootFilesystem").value())
                    .isEqualTo(true);
            assertThat(container
                            .at("securityContext", "allowPrivilegeEscalation")
                            .value())
                    .isEqualTo(false);
            assertThat(container.at("securityContext", "capabilities", "drop").texts())
                    .containsExactly("ALL");
            assertThat(container.at("resources", "limits").keys()).contains("memory");
        }
    }

    @Test
    void onlyTheMigrationOfKubernetesSeesTheOwnersPassword() throws IOException {
        Yaml pod = pod();
        assertThat(mounted(pod.at("initContainers", 0)))
                .contains("owner-password")
                .doesNotContain("app-password");
        assertThat(mounted(pod.at("containers", 0))).contains("app-password").doesNotContain("owner-password");
        Set<String> volumes = pod.at("volumes").all().stream()
                .map(volume -> volume.at("name").text())
                .collect(Collectors.toSet());
        assertThat(volumes)
                .containsAll(mounted(pod.at("containers", 0)))
                .containsAll(mounted(pod.at("initContainers", 0)));
        assertThat(kubernetes("Secret").at("stringData").keys())
                .containsExactlyInAnyOrder("owner-password", "app-password");
    }

    private static List<String> mounted(Yaml container) {
        return container.at("volumeMounts").all().stream()
                .map(mount -> mount.at("name").text())
                .toList();
    }

    /** Every other rule asks for something that a node shows, and is silent when the last one has died. */
    @Test
    void anAlertFiresWhenNoNodeShowsAnythingOrNoneOfAStore() throws IOException {
        Yaml rules =
                Yaml.documents(file("prometheus/windlass-alerts.yml")).get(0).at("groups", 0, "rules");
        assertThat(rules.all())
                .filteredOn(rule -> rule.at("expr").text().startsWith("absent(windlass_measure_age_seconds) or "))
                .singleElement()
                .satisfies(rule -> {
                    assertThat(rule.at("alert").text()).isEqualTo("WindlassGone");
                    assertThat(rule.at("expr").text())
                            .contains("by (store) (max_over_time(windlass_measure_age_seconds[1h]))"
                                    + " unless on (store) windlass_measure_age_seconds");
                });
        assertThat(Files.readString(ROOT.resolve("docs/monitoring.md"))).contains("`WindlassGone`");
    }
}
