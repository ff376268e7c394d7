package dev.windlass;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.ReflectionSupport;

/** Makes docs/requirements.md of the list of requirements and of the tests that show them. */
final class RequirementsTableTest {
    private static final Map<String, String> LATER =
            Map.of("many databases", "Comes with many databases; not in this release.");

    /**
     * @param remark how it is done differently, or why there is no test; may be empty
     */
    private record Requirement(String number, String sentence, String remark) {
        static Requirement parse(String line) {
            String[] parts = line.split("\\|", -1);
            String remark = parts[2].strip();
            return new Requirement(parts[0].strip(), parts[1].strip(), LATER.getOrDefault(remark, remark));
        }
    }

    private static final List<Requirement> REQUIREMENTS = requirements();
    private static final Map<String, Collection<String>> TESTS = tests();

    @Test
    void theTableSaysWhichTestsShowWhichRequirement() throws IOException {
        Repository.holds("docs/requirements.md", table());
    }

    @Test
    void everyRequirementHasATestOrAReason() {
        assertThat(REQUIREMENTS)
                .allSatisfy(requirement -> assertThat(
                                TESTS.containsKey(requirement.number) || !requirement.remark.isEmpty())
                        .as("%s has a test or a reason", requirement.number)
                        .isTrue());
    }

    @Test
    void testsShowOnlyRequirementsThatExist() {
        assertThat(TESTS.keySet())
                .isSubsetOf(REQUIREMENTS.stream().map(Requirement::number).toList());
    }

    private String table() {
        List<String> lines = new ArrayList<>(List.of(
                "# Requirements of the outbox, and the tests that show them",
                "",
                "Made of `requirements.txt` and of the `@Shows` annotations of the tests by `RequirementsTableTest`; write it anew",
                "with `mvn test -pl core -am -Dtest=RequirementsTableTest -Dsurefire.failIfNoSpecifiedTests=false -Dupdate.docs=true`.",
                "Classes whose names end in `Conformance` are run on every database engine. OBX-113 and OBX-115 do not exist.",
                "",
                "| number | requirement | shown by |",
                "|---|---|---|"));
        REQUIREMENTS.forEach(requirement -> lines.add(
                "| %s | %s | %s |".formatted(requirement.number, requirement.sentence, evidence(requirement))));
        return String.join("\n", lines) + "\n";
    }

    private String evidence(Requirement requirement) {
        List<String> evidence = new ArrayList<>();
        if (!requirement.remark.isEmpty()) {
            evidence.add(requirement.remark);
        }
        TESTS.getOrDefault(requirement.number, List.of()).forEach(test -> evidence.add("`" + test + "`"));
        return String.join("<br>", evidence);
    }

    private static List<Requirement> requirements() {
        try (InputStream in = RequirementsTableTest.class.getResourceAsStream("requirements.txt")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(Requirement::parse)
                    .toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Collection<String>> tests() {
        Map<String, Collection<String>> tests = new TreeMap<>();
        for (Class<?> type : ReflectionSupport.findAllClassesInPackage("dev.windlass", every -> true, name -> true)) {
            for (Method method : type.getDeclaredMethods()) {
                Shows shows = method.getAnnotation(Shows.class);
                if (shows != null) {
                    for (String number : shows.value()) {
                        tests.computeIfAbsent(number, none -> new TreeSet<>())
                                .add(type.getSimpleName() + "#" + method.getName());
                    }
                }
            }
        }
        return tests;
    }
}
