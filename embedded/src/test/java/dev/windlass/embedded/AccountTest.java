package dev.windlass.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.windlass.embedded.Account.Way;
import dev.windlass.embedded.EmbeddedPostgres.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class AccountTest {

    @TempDir
    private Path temp;

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"SETPRIV", "RUNUSER", "SU"})
    void rootRunsTheServerAsNobodyWhereUserNamespacesAreForbidden(Way way) throws Exception {
        Account account = allowed(way);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(Options.defaults(), account)) {
            assertThat(owner(Path.of("/proc/" + postgres.pid()))).isEqualTo(account.uid());
            assertThat(owner(postgres.data())).isEqualTo(account.uid());
            Sql.run(postgres, "CREATE TABLE kept AS SELECT 42 AS answer");
            postgres.stop();
            postgres.restart();
            postgres.kill();
            postgres.restart();
            assertThat(Sql.value(postgres, "SELECT answer FROM kept")).isEqualTo("42");
        }
    }

    @Test
    void persistentDirectoryFollowsTheAccount() throws Exception {
        Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwx--x--x"));
        Options options = Options.defaults().withDataDirectory(temp.resolve("kept"));
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(options, allowed(Way.USER_NAMESPACE))) {
            Sql.run(postgres, "CREATE TABLE kept AS SELECT 42 AS answer");
        }
        for (Way way : List.of(Way.SETPRIV, Way.USER_NAMESPACE)) {
            try (EmbeddedPostgres postgres = EmbeddedPostgres.start(options, allowed(way))) {
                assertThat(Sql.value(postgres, "SELECT answer FROM kept")).isEqualTo("42");
            }
        }
    }

    @Test
    void directoryThatTheAccountCannotEnterIsRefusedClearly() {
        Account account = allowed(Way.SETPRIV);
        Options options = Options.defaults().withDataDirectory(temp.resolve("hidden"));
        assertThatThrownBy(() -> EmbeddedPostgres.start(options, account))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("cannot enter " + temp.resolve("hidden"));
    }

    @Test
    void rootWithoutAWayOutIsToldWhatToDo() {
        assertThatThrownBy(() -> Account.firstAllowed(List.of()))
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("run as another user or give a database with --url");
    }

    @Test
    void rootPrefersTheUserNamespaceAndOthersStayThemselves() {
        Way way = Account.choose().way();
        assertThat(way == Way.CALLER).isEqualTo(!Account.isRoot());
    }

    private static Account allowed(Way way) {
        assumeTrue(Account.isRoot(), "only root can change the user");
        try {
            return Account.firstAllowed(List.of(way));
        } catch (EmbeddedPostgresException e) {
            assumeTrue(false, way + " is not allowed on this machine");
            throw e;
        }
    }

    private static Object owner(Path path) throws IOException {
        return Files.getAttribute(path, "unix:uid");
    }
}
