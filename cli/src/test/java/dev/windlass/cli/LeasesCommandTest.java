package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.WindlassOptions;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.lease.LeaseRequest;
import dev.windlass.lease.Leases;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LeasesCommandTest {
    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final Duration LEASE = Duration.ofMinutes(5);

    private final Windlass windlass = windlass("lease");
    private final Leases leases = windlass.leases();

    private static Windlass windlass(String table) {
        return Windlass.on(SERVER.dataSource())
                .options(WindlassOptions.defaults()
                        .withSchemaName("leases_command_test")
                        .withBackgroundWorkers(false)
                        .withNodeName("node-1"))
                .leases(LeaseOptions.defaults().withTableName(table))
                .ensureSchema()
                .start();
    }

    @AfterEach
    void clean() throws SQLException {
        windlass.close();
        Sql.execute(SERVER.dataSource(), "drop schema if exists leases_command_test cascade");
    }

    private static Ran leases(String... arguments) {
        List<String> all = new ArrayList<>(List.of("leases"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", "leases_command_test"));
        return Ran.windlass(all.toArray(String[]::new));
    }

    @Test
    void listShowsWhoHoldsWhatByName() {
        leases.tryAcquire(LeaseRequest.of("b", LEASE).withOwner("the\u001b[31m importer"));
        leases.semaphore("c", 2).tryAcquire(LEASE);
        leases.tryAcquire("a", LEASE).orElseThrow().close();

        Ran ran = leases("list");

        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("NAME +TOKEN +EXPIRES +STATE +OWNER"),
                        a -> assertThat(a).matches("a +3 +\\S+Z +free +node-1"),
                        b -> assertThat(b).matches("b +1 +\\S+Z +held +the \\[31m importer"),
                        c -> assertThat(c).matches("c \\(permit 1\\) +2 +\\S+Z +held +node-1"));
        assertThat(leases("list", "--held").out().lines()).hasSize(3);
    }

    @Test
    void jsonHasOneObjectForEach() {
        leases.tryAcquire("a", LEASE);

        Ran ran = leases("list", "--json");

        assertThat(ran.out()).hasLineCount(1);
        assertThat(Json.read(ran.out()).get("name").asText()).isEqualTo("a");
        assertThat(Json.read(ran.out()).get("held").asBoolean()).isTrue();
        assertThat(Json.read(ran.out()).get("fencingToken").asLong()).isEqualTo(1);
        assertThat(Json.read(ran.out()).get("permit").asInt()).isZero();
    }

    @Test
    void listSaysWhenThereAreNone() {
        assertThat(leases("list").out().strip()).isEqualTo("no leases");
        assertThat(leases("list", "--json").out()).isEmpty();
    }

    @Test
    void anotherTableCanBeNamed() {
        try (Windlass other = windlass("locks")) {
            other.leases().tryAcquire("elsewhere", LEASE);
            assertThat(leases("list", "--lease-table", "locks").out()).contains("elsewhere");
            assertThat(leases("list").out()).doesNotContain("elsewhere");
        }
    }

    @Test
    void withoutAVerbItSaysWhichThereAre() {
        Ran ran = Ran.windlass("leases");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err()).contains("got none; there is: list");
    }

    @Test
    void theBenchmarkRuns() {
        Ran ran = Ran.windlass(
                "bench", "leases", "--times", "3", "--rounds", "1", "--url", SERVER.jdbcUrl(), "--user", SERVER.user());
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out()).contains("bare upsert of one row", "acquire and release", "times an upsert");
    }
}
