package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The public host runs what the README and {@code .ci/run} say. */
final class WorkflowFilesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static String read(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

    private static Yaml jobs() throws IOException {
        return Yaml.documents(read(".github/workflows/ci.yml")).get(0).at("jobs");
    }

    private static List<Yaml> allJobs() throws IOException {
        Yaml jobs = jobs();
        return jobs.keys().stream().map(jobs::at).toList();
    }

    private static List<String> commands(Yaml job) {
        return job.at("steps").all().stream()
                .filter(step -> step.has("run"))
                .map(step -> step.at("run").text())
                .toList();
    }

    private static List<String> localCommands() throws IOException {
        return read(".ci/run").lines().filter(line -> line.startsWith("mvn ")).toList();
    }

    @Test
    void theTestsRunOnEveryJavaThatIsPromised() throws IOException {
        Matcher oldest = Pattern.compile("<maven.compiler.release>(\\d+)<").matcher(read("pom.xml"));
        assertThat(oldest.find()).isTrue();
        assertThat(jobs().at("verify", "strategy", "matrix", "java").texts())
                .startsWith(oldest.group(1))
                .contains("21", "25");
        assertThat(read("README.md")).contains("mvn verify");
    }

    @Test
    void theCommandsAreThoseThatAreRunHere() throws IOException {
        List<String> commands = new ArrayList<>(commands(jobs().at("verify")));
        commands.addAll(commands(jobs().at("oldest-postgresql")));
        assertThat(commands).containsExactlyElementsOf(localCommands());
        for (String command : commands(jobs().at("release"))) {
            assertThat(ROOT.resolve(command)).isExecutable();
        }
    }

    @Test
    void everyJobEndsAndSaysWhichVersionOfAnActionItMeans() throws IOException {
        for (Yaml job : allJobs()) {
            assertThat(job.keys()).contains("runs-on", "timeout-minutes");
            assertThat(job.at("steps").all().stream()
                            .filter(step -> step.has("uses"))
                            .map(step -> step.at("uses").text()))
                    .isNotEmpty()
                    .allMatch(action -> action.matches("actions/[a-z-]+@v\\d+"));
        }
    }

    @Test
    void theReportsOfAFailureAreKept() throws IOException {
        for (String job : List.of("verify", "oldest-postgresql")) {
            assertThat(jobs().at(job, "steps").all()).anySatisfy(step -> {
                assertThat(step.at("uses").text()).startsWith("actions/upload-artifact@");
                assertThat(step.at("if").text()).isEqualTo("failure()");
                assertThat(step.at("with", "path").text()).contains("surefire-reports");
            });
        }
    }

    @Test
    void aWorkflowMayOnlyRead() throws IOException {
        Yaml workflow = Yaml.documents(read(".github/workflows/ci.yml")).get(0);
        assertThat(workflow.at("permissions").keys()).containsExactly("contents");
        assertThat(workflow.at("permissions", "contents").text()).isEqualTo("read");
        assertThat(read(".github/workflows/ci.yml")).doesNotContain("secrets.").doesNotContain("pull_request_target");
    }

    @Test
    void dependenciesAreLookedAfterWhereThereAreSome() throws IOException {
        Yaml updates = Yaml.documents(read(".github/dependabot.yml")).get(0).at("updates");
        assertThat(updates.all())
                .extracting(update -> update.at("package-ecosystem").text())
                .containsExactlyInAnyOrder("maven", "github-actions");
    }
}
