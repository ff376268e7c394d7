package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Model;
import org.apache.maven.model.Parent;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.Repository;
import org.apache.maven.model.building.DefaultModelBuilderFactory;
import org.apache.maven.model.building.DefaultModelBuildingRequest;
import org.apache.maven.model.building.FileModelSource;
import org.apache.maven.model.building.ModelBuildingException;
import org.apache.maven.model.building.ModelBuildingRequest;
import org.apache.maven.model.building.ModelProblemCollector;
import org.apache.maven.model.building.ModelSource2;
import org.apache.maven.model.building.StringModelSource;
import org.apache.maven.model.resolution.ModelResolver;
import org.apache.maven.model.validation.ModelValidator;
import org.assertj.core.groups.Tuple;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a release publishes, as Maven understands it. The jars themselves are checked by {@code .ci/release}. */
final class PublishedModulesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final String BOM = "windlass-bom";

    /** Knows the bom. What others publish has no part in this, and is empty. */
    private static final class Known implements ModelResolver {
        private static ModelSource2 find(String group, String artifact, String version) {
            return artifact.equals(BOM)
                    ? new FileModelSource(pom("bom"))
                    : new Text("<project><modelVersion>4.0.0</modelVersion><groupId>" + group + "</groupId><artifactId>"
                            + artifact + "</artifactId><version>" + version
                            + "</version><packaging>pom</packaging></project>");
        }

        @Override
        public ModelSource2 resolveModel(String group, String artifact, String version) {
            return find(group, artifact, version);
        }

        @Override
        public ModelSource2 resolveModel(Parent parent) {
            return find(parent.getGroupId(), parent.getArtifactId(), parent.getVersion());
        }

        @Override
        public ModelSource2 resolveModel(Dependency dependency) {
            return find(dependency.getGroupId(), dependency.getArtifactId(), dependency.getVersion());
        }

        @Override
        public void addRepository(Repository repository) {}

        @Override
        public void addRepository(Repository repository, boolean replace) {}

        @Override
        public ModelResolver newCopy() {
            return this;
        }
    }

    /** What others publish is not known here, nor are their versions. */
    private static final class Lenient implements ModelValidator {
        @Override
        public void validateRawModel(Model model, ModelBuildingRequest request, ModelProblemCollector problems) {}

        @Override
        public void validateEffectiveModel(Model model, ModelBuildingRequest request, ModelProblemCollector problems) {}
    }

    @SuppressWarnings("deprecation") // the resolver takes no other
    private static final class Text extends StringModelSource implements ModelSource2 {
        Text(String pom) {
            super(pom);
        }

        @Override
        public @Nullable ModelSource2 getRelatedSource(String path) {
            return null;
        }

        @Override
        public @Nullable URI getLocationURI() {
            return null;
        }
    }

    private static File pom(String module) {
        return ROOT.resolve(module).resolve("pom.xml").toFile();
    }

    private static Model effective(DefaultModelBuildingRequest request) throws ModelBuildingException {
        Properties system = new Properties();
        system.putAll(System.getProperties());
        request.setModelResolver(new Known()).setSystemProperties(system);
        return new DefaultModelBuilderFactory()
                .newInstance()
                .setModelValidator(new Lenient())
                .build(request)
                .getEffectiveModel();
    }

    private static Model module(String name, String... profiles) throws ModelBuildingException {
        DefaultModelBuildingRequest request = new DefaultModelBuildingRequest();
        request.setPomFile(pom(name)).setActiveProfileIds(List.of(profiles));
        return effective(request);
    }

    private static boolean isPublished(Model model) {
        return !"true".equals(model.getProperties().getProperty("maven.deploy.skip"));
    }

    private static List<Model> published(String... profiles) throws ModelBuildingException {
        Stream.Builder<Model> all = Stream.builder();
        for (String name : module("").getModules()) {
            all.add(module(name, profiles));
        }
        return all.build().filter(PublishedModulesTest::isPublished).toList();
    }

    private static List<Model> publishedJars(String... profiles) throws ModelBuildingException {
        return published(profiles).stream()
                .filter(model -> model.getPackaging().equals("jar"))
                .toList();
    }

    private static List<String> plugins(Model model) {
        return model.getBuild().getPlugins().stream().map(Plugin::getArtifactId).toList();
    }

    @Test
    void whoImportsTheBomGetsTheModulesOfWindlassAndNothingElse() throws ModelBuildingException {
        String version = module("").getVersion();
        DefaultModelBuildingRequest request = new DefaultModelBuildingRequest();
        request.setModelSource(new Text("""
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>com.example</groupId>
                  <artifactId>shop</artifactId>
                  <version>1</version>
                  <dependencyManagement>
                    <dependencies>
                      <dependency>
                        <groupId>dev.windlass</groupId>
                        <artifactId>windlass-bom</artifactId>
                        <version>%s</version>
                        <type>pom</type>
                        <scope>import</scope>
                      </dependency>
                    </dependencies>
                  </dependencyManagement>
                </project>
                """.formatted(version)));

        assertThat(effective(request).getDependencyManagement().getDependencies())
                .extracting(Dependency::getManagementKey, Dependency::getVersion, Dependency::getScope)
                .containsExactlyInAnyOrderElementsOf(publishedJars().stream()
                        .map(model -> Tuple.tuple("dev.windlass:" + model.getArtifactId() + ":jar", version, null))
                        .toList());
    }

    @Test
    void examplesAndBenchmarksAreNotPublished() throws ModelBuildingException {
        assertThat(published())
                .extracting(Model::getArtifactId)
                .containsExactlyInAnyOrder(
                        BOM,
                        "windlass-core",
                        "windlass-embedded",
                        "windlass-testkit",
                        "windlass-spring-boot-starter",
                        "windlass-spring-boot-starter-test",
                        "windlass-cli");
        for (String own : List.of("examples", "examples/spring-orders", "spring-boot-3-tests", "benchmarks")) {
            assertThat(module(own).getProperties())
                    .containsEntry("maven.source.skip", "true")
                    .containsEntry("maven.javadoc.skip", "true")
                    .containsEntry("gpg.skip", "true");
        }
    }

    @Test
    void everyModuleSaysWhatItIsAndWhoseItIs() throws ModelBuildingException {
        Model root = module("");
        for (Model model : published()) {
            assertThat(model.getName()).as("name of %s", model).isNotBlank().isNotEqualTo(root.getName());
            assertThat(model.getDescription()).as("description of %s", model).isNotBlank();
            assertThat(model.getVersion()).as("version of %s", model).isEqualTo(root.getVersion());
            assertThat(model.getUrl()).as("url of %s", model).isEqualTo(root.getUrl());
            assertThat(model.getInceptionYear()).isEqualTo(root.getInceptionYear());
            assertThat(model.getLicenses()).as("licences of %s", model).hasSize(1);
            assertThat(model.getDevelopers()).as("developers of %s", model).isNotEmpty();
            assertThat(model.getScm())
                    .usingRecursiveComparison()
                    .comparingOnlyFields("connection", "developerConnection", "url")
                    .isEqualTo(root.getScm());
        }
    }

    @Test
    void everyJarHasAModuleName() throws ModelBuildingException {
        for (Model model : publishedJars()) {
            Path descriptor = model.getProjectDirectory().toPath().resolve("src/main/java/module-info.java");
            assertThat(
                            Files.exists(descriptor)
                                    ? "dev.windlass"
                                    : automaticName(model).orElse("none"))
                    .as("module name of %s", model)
                    .startsWith("dev.windlass");
        }
    }

    private static Optional<String> automaticName(Model model) {
        return Optional.ofNullable(model.getBuild().getPluginsAsMap().get("org.apache.maven.plugins:maven-jar-plugin"))
                .map(plugin -> (Xpp3Dom) plugin.getConfiguration())
                .map(configuration -> configuration.getChild("archive"))
                .map(archive -> archive.getChild("manifestEntries"))
                .map(entries -> entries.getChild("Automatic-Module-Name"))
                .map(Xpp3Dom::getValue);
    }

    @Test
    void everyJarBringsTheLicence() throws ModelBuildingException {
        for (Model model : publishedJars()) {
            assertThat(model.getBuild().getResources())
                    .as("resources of %s", model)
                    .anySatisfy(resource -> {
                        assertThat(Path.of(resource.getDirectory()).normalize()).isEqualTo(ROOT);
                        assertThat(resource.getIncludes()).containsExactly("LICENSE", "NOTICE");
                        assertThat(resource.getTargetPath()).isEqualTo("META-INF");
                    });
        }
    }

    @Test
    void aReleaseHasSourcesAndJavadocAndIsSignedOnlyIfThatIsAskedFor() throws ModelBuildingException {
        for (Model model : publishedJars("release")) {
            assertThat(plugins(model))
                    .as("plugins of %s", model)
                    .contains("maven-source-plugin", "maven-javadoc-plugin")
                    .doesNotContain("maven-gpg-plugin");
        }
        for (Model model : published("release", "sign")) {
            assertThat(plugins(model)).as("plugins of %s", model).contains("maven-gpg-plugin");
        }
    }

    @Test
    void nothingSaysWhereToUpload() throws ModelBuildingException {
        for (Model model : published("release", "sign")) {
            assertThat(Objects.requireNonNullElse(model.getDistributionManagement(), "nothing"))
                    .isEqualTo("nothing");
        }
    }
}
