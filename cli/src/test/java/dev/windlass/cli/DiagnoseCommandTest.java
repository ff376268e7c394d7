package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.testkit.WindlassExtension;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class DiagnoseCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    /** As a user who may only read. */
    @BeforeAll
    static void createReader() throws SQLException {
        Sql.execute(database, "create role diagnose_reader login password 'diagnose_reader'");
        Sql.execute(database.dataSource(), database.windlass().migrator().readGrants("diagnose_reader"));
    }

    @AfterAll
    static void dropReader() throws SQLException {
        Sql.execute(database, "drop owned by diagnose_reader; drop role diagnose_reader");
    }

    private static Ran diagnose(String... arguments) {
        Ran ran = ran(arguments);
        assertThat(ran.err()).isEmpty();
        assertThat(ran.exitCode()).isZero();
        return ran;
    }

    private static Ran ran(String... arguments) {
        List<String> all = new ArrayList<>(List.of("diagnose"));
        all.addAll(List.of(arguments));
        return windlass(all.toArray(String[]::new));
    }

    private static Ran windlass(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", "diagnose_reader", "--password", "diagnose_reader"));
        all.addAll(List.of("--schema", database.schema()));
        return Ran.windlass(all.toArray(String[]::new));
    }

    private static void message(int count, int status, String more, String values) throws SQLException {
        Sql.execute(
                database,
                "insert into %s.outbox (id, created_at, next_attempt_at, status, topic, payload" + more
                        + ") select gen_random_uuid(), now(), now(), " + status + ", 'a.topic', 'my secret'" + values
                        + " from generate_series(1, " + count + ")");
    }

    @Test
    void totalsAreATableOfQueuesAndTopics() throws SQLException {
        assertThat(diagnose("totals").out().strip()).isEqualTo("no messages");
        message(3, 0, "", "");
        message(2, 2, ", ended_at, retry_count", ", now(), 1");
        assertThat(diagnose("totals").out().lines())
                .first()
                .asString()
                .matches("QUEUE +TOPIC +READY +WAITING +IN PROGRESS +DONE +FAILED +RETRIES");
        assertThat(diagnose("totals").out()).containsPattern("outbox +a.topic +3 +0 +0 +2 +0 +1.00");
        assertThat(diagnose("totals", "--most", "2").out())
                .containsPattern("outbox +a.topic +2\\+ +0 +0 +2\\+ +0 +1.00");
        JsonNode json = Json.read(diagnose("totals", "--json").out());
        assertThat(json.get("queue").textValue()).isEqualTo("outbox");
        assertThat(json.get("ready").intValue()).isEqualTo(3);
        assertThat(json.get("averageRetries").decimalValue()).isEqualByComparingTo("1");
    }

    @Test
    void delaysAreToldHourByHour() throws SQLException {
        assertThat(diagnose("delays").out().strip()).isEqualTo("no timers or runs among what ended last");
        message(1, 2, ", source, due_at, ended_at", ", 'timer', now() - interval '250 ms', now()");
        assertThat(diagnose("delays").out()).containsPattern("timers +\\S+:00:00Z +1 +250 ms +250 ms +250 ms");
        assertThat(Json.read(diagnose("delays", "--json").out()).get("p99Ms").intValue())
                .isEqualTo(250);
    }

    @Test
    void anHourOfTimersIsToldWhateverElseWasDoneAndWhereItIsAPartThatIsSaid() throws SQLException {
        String hour = "date_trunc('hour', now()) - interval '2 hours'";
        String columns = ", source, due_at, ended_at, created_at";
        Sql.execute(
                database,
                "insert into %s.outbox (id, next_attempt_at, status, topic, payload" + columns + ")"
                        + " select gen_random_uuid(), now(), 2, 'a.topic', 'x', 'timer', " + hour + ", " + hour
                        + " + n * interval '1 min', " + hour + " + case n when 1 then interval '100 s' else '1 s' end"
                        + " from generate_series(1, 30) n");
        message(1500, 2, ", ended_at", ", now()");
        assertThat(diagnose("delays").out())
                .containsPattern("timers +\\S+:00:00Z +30 +4300 ms +1 min 40 s +1 min 40 s")
                .doesNotContain("With a +");
        assertThat(diagnose("delays", "--most", "20").out()).contains("no timers or runs");
        assertThat(diagnose("delays", "--most", "80").out())
                .containsPattern("timers +\\S+:00:00Z +30 ")
                .doesNotContain("+");
        Sql.execute(database, "delete from %s.outbox where source is null");
        assertThat(diagnose("delays", "--most", "20").out())
                .containsPattern("timers +\\S+:00:00Z +20\\+ +1000 ms +1000 ms +at least 1000 ms")
                .contains("With a +");
        assertThat(Json.read(diagnose("delays", "--most", "20", "--json").out())
                        .get("more")
                        .booleanValue())
                .isTrue();
    }

    @Test
    void leasesAreCountedForEachQueueAndWhoWaitsIsShown() throws SQLException {
        message(2, 1, ", claimed_at, locked_until", ", now(), now() + interval '1 min'");
        Sql.execute(database, """
                insert into %s.lease (name, slot, holder, owner, fencing_token, acquired_at, expires_at, awaited_until)
                values ('rebuild', 0, gen_random_uuid(), 'node 1', 1, now(), now() + interval '1 min', now() + interval '1 min')""");
        assertThat(diagnose("leases").out())
                .containsPattern("outbox +2 +\\S+Z +\\S+Z")
                .containsPattern("inbox +0 +- +-")
                .containsPattern("leases +1 +\\S+Z +\\S+Z")
                .containsPattern("rebuild +1 +- +\\S+Z +\\S+Z +\\S+Z +node 1");
        assertThat(diagnose("leases", "--json").out()).hasLineCount(7);
    }

    @Test
    void stuckAndLapsedMessagesAreListedWithoutTheirContent() throws SQLException {
        assertThat(diagnose("stuck").out().strip()).isEqualTo("nothing is stuck");
        assertThat(diagnose("lapsed").out().strip()).isEqualTo("no message has lost its lease that often");
        message(
                1,
                1,
                ", claimed_at, locked_until, lease_expiries",
                ", now() - interval '100 s', now() - interval '70 s', 3");
        for (String command : new String[] {"stuck", "lapsed"}) {
            assertThat(diagnose(command).out())
                    .containsPattern("outbox +[0-9a-f-]{36} +a.topic +\\S+Z +\\S+Z +0 +3 +-")
                    .doesNotContain("secret");
            JsonNode json = Json.read(diagnose(command, "--json").out());
            assertThat(json.get("leaseExpiries").intValue()).isEqualTo(3);
            assertThat(json.has("payload")).isFalse();
        }
        assertThat(diagnose("lapsed", "--least", "4").out().strip())
                .isEqualTo("no message has lost its lease that often");
    }

    @Test
    void tenOfWhatIsStuckAreShownUnlessMoreAreAskedFor() throws SQLException {
        message(15, 1, ", claimed_at, locked_until", ", now() - interval '100 s', now() - interval '70 s'");
        assertThat(diagnose("stuck", "--json").out()).hasLineCount(10);
        assertThat(diagnose("stuck").out()).contains("outbox: these are the 10 oldest; --most shows more.");
        assertThat(diagnose("stuck", "--most", "20").out()).hasLineCount(16).doesNotContain("--most");
    }

    @Test
    void whoMayOnlyReadIsToldWhyJobsAreNotForIt() {
        for (String command : List.of("jobs list", "jobs show nightly")) {
            Ran ran = windlass(command.split(" "));
            assertThat(ran.err())
                    .as(command)
                    .contains("jobs are read with their payloads, which --grant-read-to does not show")
                    .doesNotContain("--grant-to")
                    .hasLineCount(1);
            assertThat(ran.exitCode()).as(command).isEqualTo(1);
        }
    }

    @Test
    void whereTopicsWereLeftOutThatIsSaid() throws SQLException {
        Sql.execute(database, """
                insert into %s.outbox (id, created_at, next_attempt_at, topic, lease_expiries, payload)
                select gen_random_uuid(), now(), now(), 'topic ' || n, 2, 'x' from generate_series(1, 1500) n""");
        assertThat(diagnose("totals").out()).contains("There are more topics than were looked at");
        assertThat(Json.read(diagnose("totals", "--json")
                                .out()
                                .lines()
                                .findFirst()
                                .orElseThrow())
                        .get("moreTopics")
                        .booleanValue())
                .isTrue();
        Ran lapsed = ran("lapsed", "--json");
        assertThat(lapsed.exitCode()).isZero();
        assertThat(lapsed.err())
                .isEqualToIgnoringNewLines("windlass: outbox: there are more topics than were looked at");
        Ran status = windlass("status");
        assertThat(status.out()).contains("There are more topics than were looked at");
        assertThat(Json.read(windlass("status", "--json").out())
                        .get("moreTopics")
                        .booleanValue())
                .isTrue();
    }

    @Test
    void whoMayOnlyReadCanAlsoAskForTheStatusAndTheLists() throws SQLException {
        message(1, 3, ", ended_at", ", now()");
        for (String command : List.of(
                "status",
                "outbox list",
                "outbox failed",
                "inbox list",
                "inbox stuck",
                "queue list",
                "timers list",
                "runs list",
                "leases list",
                "outbox paused",
                "outbox actions")) {
            Ran ran = windlass(command.split(" "));
            assertThat(ran.err()).as(command).isEmpty();
            assertThat(ran.exitCode()).as(command).isZero();
        }
    }

    @Test
    void aMissingSchemaIsOneSentence() {
        Ran ran = Ran.windlass(
                "diagnose", "totals", "--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", "nowhere");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .startsWith("windlass: expected Windlass's tables in schema \"nowhere\"")
                .hasLineCount(1);
    }
}
