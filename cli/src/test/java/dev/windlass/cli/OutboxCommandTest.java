package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.testkit.WindlassExtension;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OutboxCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final String NOBODY = "0197c3a2-8f10-7abc-9def-0123456789ab";

    private final Windlass windlass = passive();
    private final Outbox outbox = windlass.outbox();

    @AfterEach
    void close() {
        windlass.close();
    }

    @Test
    void failedListsTheLatestFirstInOneLineEach() {
        dead("a", "first\nsecond\u001b[31m line");
        dead("b", "x".repeat(1_000));
        Ran ran = outbox("failed");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("ID +TOPIC +STATE +ENDED +FAILED +LOST +KEY +ERROR"),
                        b -> assertThat(b).contains("  b  ").endsWith("x...").hasSize(Paper.WIDTH_OF_A_FILE),
                        a -> assertThat(a).contains("  a  ").endsWith("  1       0     -    first second [31m line"));
    }

    @Test
    void listFindsMessagesByStateTopicAndTimeWithoutTheirPayloads() {
        OutboxMessageIdentifier ready =
                outbox.enqueue(OutboxEntry.of("a", "my secret").withOrderingKey("k"));
        OutboxMessageIdentifier waiting =
                outbox.enqueue(OutboxEntry.of("a", "my secret").withOrderingKey("k"));
        Ran all = outbox("list");
        assertThat(all.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("ID +TOPIC +STATE +CREATED +FAILED +LOST +KEY +ERROR"),
                        last -> assertThat(last).matches(text(waiting) + " +a +waiting +\\S+Z +0 +0 +k +-"),
                        first -> assertThat(first).matches(text(ready) + " +a +ready +\\S+Z +0 +0 +k +-"));
        OutboxMessageIdentifier dead = dead("b", "no");
        assertThat(listed("--state", "failed")).containsExactly(text(dead));
        assertThat(listed("--state", "waiting")).containsExactly(text(waiting));
        assertThat(listed("--topic", "b")).containsExactly(text(dead));
        assertThat(listed("--state", "ready", "--from", "1h")).containsExactly(text(ready));
        assertThat(listed("--until", "1h")).isEmpty();
        assertThat(outbox("list", "--json").out() + all.out()).doesNotContain("secret");
        assertThat(outbox("list", "--topic", "none").out().strip()).isEqualTo("no messages");
    }

    private static List<String> listed(String... options) {
        List<String> words = new ArrayList<>(List.of("list", "--json"));
        words.addAll(List.of(options));
        return outbox(words.toArray(String[]::new))
                .out()
                .lines()
                .map(line -> Json.read(line).get("id").asText())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--state ready", "--state waiting"})
    void theLineBelowAFullPageOfAListIsTheCommandForTheNext(String state) {
        for (int i = 0; i < 6; i++) {
            OutboxEntry entry = OutboxEntry.of("a", "");
            outbox.enqueue(i < 2 ? entry : entry.withOrderingKey("it's / one"));
        }
        List<String> whole = listed(state.isEmpty() ? new String[0] : state.split(" ", -1));
        List<String> seen = new ArrayList<>();
        List<String> words = new ArrayList<>(List.of("outbox", "list", "--limit", "2"));
        words.addAll(state.isEmpty() ? List.of() : List.of(state.split(" ", -1)));
        words.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", "postgres", "--schema", database.schema()));
        String[] next = words.toArray(String[]::new);
        while (next.length > 0) {
            List<String> lines = Ran.windlass(next).out().lines().toList();
            lines.stream()
                    .filter(line -> line.matches("[0-9a-f]{8}-.*"))
                    .forEach(line -> seen.add(line.substring(0, 36)));
            String last = lines.get(lines.size() - 1);
            next = last.startsWith("next page: windlass ") ? unquoted(last) : new String[0];
        }
        assertThat(seen).isEqualTo(whole).hasSizeGreaterThan(2);
    }

    /** As a shell would read it. */
    private static String[] unquoted(String line) {
        String place = line.replaceFirst(".* --after ", "")
                .replace("'\\''", "\0")
                .replace("'", "")
                .replace('\0', '\'');
        List<String> words = new ArrayList<>(List.of(line.replaceFirst("next page: windlass ", "")
                .replaceFirst(" --after .*", "")
                .split(" ", -1)));
        words.addAll(List.of("--after", place));
        return words.toArray(String[]::new);
    }

    @Test
    void pausingATopicThatNobodyKnowsIsNoted() {
        Ran unknown = outbox("pause", "misspelt");
        assertThat(unknown.out().strip()).isEqualTo("paused topic misspelt");
        assertThat(unknown.err())
                .startsWith("windlass: no message, timer or job of topic misspelt is there now")
                .contains("'windlass outbox resume misspelt'");
        outbox.enqueue(OutboxEntry.of("ready", ""));
        dead("dead", "no");
        windlass.timers().schedule(TimerEntry.of("timer", "", Duration.ofHours(1)));
        windlass.jobs().save(Job.every("job", Duration.ofHours(1)).withTopic("jobs"));
        for (String known : List.of("ready", "dead", "timer", "jobs")) {
            assertThat(outbox("pause", known).err()).isEmpty();
        }
    }

    @Test
    void aTimerIsNotTakenForAMessage() {
        String id = windlass.timers()
                .schedule(TimerEntry.of("timer", "", Duration.ofHours(1)))
                .toString();
        for (String command : List.of("show", "cancel")) {
            assertThat(outbox(command, id).err())
                    .contains("expected a message, but " + id + " is a timer", "'windlass timers show " + id + "'");
        }
    }

    @Test
    void missingRightsAreOneSentenceThatSaysWhoCanGiveThem() throws SQLException {
        Sql.execute(SERVER.dataSource(), "create role outbox_command_app login");
        try {
            for (String words :
                    List.of("status", "outbox failed", "timers list", "jobs list", "inbox list", "leases list")) {
                Ran ran = Ran.windlass((words + " --user outbox_command_app --schema " + database.schema() + " --url "
                                + SERVER.jdbcUrl())
                        .split(" ", -1));
                assertThat(ran.exitCode()).isEqualTo(1);
                assertThat(ran.err())
                        .startsWith("windlass: could not ")
                        .contains(
                                "permission denied for schema " + database.schema(),
                                "'windlass migrate --grant-to USER' as the owner")
                        .doesNotContain("could not start")
                        .hasLineCount(1);
            }
        } finally {
            Sql.execute(SERVER.dataSource(), "drop role outbox_command_app");
        }
    }

    @Test
    void aRightThatIsMissingLaterSaysTheSame() throws SQLException {
        Sql.execute(SERVER.dataSource(), "create role outbox_command_app login");
        try {
            Sql.execute(database, """
                    grant usage on schema %s to outbox_command_app;
                    grant select on all tables in schema %s to outbox_command_app""");
            Ran ran = Ran.windlass(
                    "outbox",
                    "pause",
                    "x",
                    "--user",
                    "outbox_command_app",
                    "--schema",
                    database.schema(),
                    "--url",
                    SERVER.jdbcUrl());
            assertThat(ran.err().lines().findFirst().orElseThrow())
                    .contains("could not pause", "permission denied", "'windlass migrate --grant-to USER'");
        } finally {
            Sql.execute(SERVER.dataSource(), "drop owned by outbox_command_app; drop role outbox_command_app");
        }
    }

    @Test
    void tablesOfOtherFeaturesMayHaveOtherNames() {
        Ran migrated = Ran.windlass(
                "migrate",
                "--schema",
                "outbox_command_names",
                "--inbox-table",
                "in",
                "--lease-table",
                "locks",
                "--work-table",
                "tasks",
                "--url",
                SERVER.jdbcUrl(),
                "--user",
                "postgres");
        assertThat(migrated.exitCode()).isZero();
        for (String words : List.of(
                "outbox failed",
                "timers list",
                "status --inbox-table in --work-table tasks",
                "inbox list --inbox-table in",
                "queue list --work-table tasks",
                "leases list --lease-table locks")) {
            Ran ran = Ran.windlass((words + " --schema outbox_command_names --user postgres --url " + SERVER.jdbcUrl())
                    .split(" ", -1));
            assertThat(ran.err()).isEmpty();
            assertThat(ran.exitCode()).isZero();
        }
    }

    @Test
    void failedMarksWhatBlocksItsKey() {
        outbox.enqueue(OutboxEntry.of("a", "").withOrderingKey("k"));
        fail("no");
        assertThat(outbox("failed").out()).contains("  k (blocks)  no");
    }

    @Test
    void failedSaysWhenThereAreNone() {
        assertThat(outbox("failed").out().strip()).isEqualTo("no failed messages");
        assertThat(outbox("failed", "--json").out()).isEmpty();
    }

    @Test
    void failedIsFilteredByTopicErrorAndTime() {
        dead("a", "Time-out");
        dead("b", "refused");
        assertThat(topics("--topic", "a")).containsExactly("a");
        assertThat(topics("--error", "time-OUT")).containsExactly("a");
        assertThat(topics("--from", "1h")).containsExactly("b", "a");
        assertThat(topics("--until", "1h ago")).isEmpty();
        assertThat(topics("--from", "2020-01-01T00:00:00Z", "--until", "2020-01-02T00:00:00+02:00"))
                .isEmpty();
    }

    @Test
    void aTimeThatEndsBeforeItBeginsIsWrongUse() {
        Ran ran = outbox("failed", "--from", "1h", "--until", "2h");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err()).contains("expected a time that begins before it ends");
    }

    @Test
    void theLineBelowAFullPageIsTheCommandForTheNextAlsoWhenItsLastMessageIsGone() {
        OutboxMessageIdentifier first = dead("it's a topic", "1");
        OutboxMessageIdentifier second = dead("it's a topic", "2");
        dead("other", "3");
        List<String> lines = outbox("failed", "--topic", "it's a topic", "--limit", "1")
                .out()
                .lines()
                .toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(1)).startsWith(second.value().toString());
        assertThat(lines.get(2))
                .startsWith(
                        "next page: windlass outbox failed --url " + SERVER.jdbcUrl() + " --user postgres --schema ")
                .contains(" --topic 'it'\\''s a topic' ");
        outbox.operator("me").purge(List.of(second));
        String position = lines.get(2).replaceFirst(".* --after ", "");
        assertThat(outbox("failed", "--topic", "it's a topic", "--limit", "1", "--after", position)
                        .out())
                .contains(first.value().toString());
    }

    @Test
    void aPositionOfAnotherListIsRefused() {
        dead("a", "1");
        String line = outbox("failed", "--limit", "1")
                .out()
                .lines()
                .skip(2)
                .findFirst()
                .orElseThrow();
        String position = line.replaceFirst(".* --after ", "");
        Ran ran = outbox("list", "--state", "done", "--after", position);
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.err())
                .contains("expected a position that a list of done messages of outbox printed,"
                        + " got one of \"failed messages of outbox\"; leave it out to begin at the start");
        assertThat(outbox("actions", "--after", position).exitCode()).isEqualTo(2);
    }

    @Test
    void jsonIsEscapedAndAloneOnTheOutput() {
        dead("a", "say \"no\"\n");
        Ran ran = outbox("failed", "--json", "--limit", "1");
        assertThat(Json.read(ran.out()).get("lastError").asText()).isEqualTo("say \"no\"\n");
        assertThat(ran.out()).hasLineCount(1);
        assertThat(ran.err()).startsWith("next page: ").contains(" --json ");
    }

    @Test
    void showTellsPayloadAndHeadersOnlyWhenAsked() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("a", "my\npayload")
                .withOrderingKey("k")
                .withCorrelationId("order-7")
                .withHeaders(Map.of("trace", "my-header")));
        fail("why");
        assertThat(outbox("show", text(id)).out())
                .containsPattern("status +failed")
                .containsPattern("correlation id +order-7")
                .containsPattern("ordering key +k \\(blocks")
                .containsPattern("Z  1 .*  why")
                .doesNotContain("payload")
                .doesNotContain("my-header");
        assertThat(outbox("show", text(id), "--json").out())
                .doesNotContain("payload")
                .doesNotContain("my-header");
        assertThat(outbox("show", text(id), "--payload").out())
                .contains("trace: my-header")
                .containsPattern(" +my\\R +payload");
        assertThat(Json.read(outbox("show", text(id), "--payload", "--json").out())
                        .get("payload")
                        .asText())
                .isEqualTo("my\npayload");
    }

    @Test
    void showOfAnUnknownMessageFails() {
        Ran ran = outbox("show", NOBODY);
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .startsWith("windlass: expected a message with id " + NOBODY)
                .hasLineCount(1);
    }

    @Test
    void requeueByIdSaysHowManyFitted() {
        OutboxMessageIdentifier id = dead("a", "no");
        Ran some = outbox("requeue", text(id), NOBODY, "--as", "anna");
        assertThat(some.exitCode()).isZero();
        assertThat(some.out()).startsWith("requeued 1 of 2 messages; the rest is unknown, not failed, or erased");
        assertThat(status(id)).isEqualTo(WorkStatus.READY);
        assertThat(outbox.operator("x").actions(1).get(0).by()).isEqualTo("anna");
        Ran none = outbox("requeue", text(id), NOBODY);
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err())
                .startsWith("windlass: requeued none of 2 messages: each is unknown")
                .hasLineCount(1);
    }

    @Test
    void requeueKeepsAttemptsWhenAsked() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("a", ""));
        OwnerToken owner = OwnerToken.fresh();
        outbox.abandon(owner, List.of(claim(owner).id()), Duration.ZERO, "once");
        fail("twice");
        assertThat(outbox("requeue", text(id), "--keep-attempts").exitCode()).isZero();
        assertThat(outbox.find(id).orElseThrow().retryCount()).isEqualTo(1);
        fail("again");
        assertThat(outbox("requeue", "--all").out().strip()).isEqualTo("requeued 1 failed message");
        assertThat(outbox.find(id).orElseThrow().retryCount()).isZero();
    }

    @Test
    void dryRunCountsWhatFitsAndChangesNothing() {
        OutboxMessageIdentifier plain = dead("a", "no");
        OutboxMessageIdentifier erased = dead("b", "no");
        outbox.enqueue(OutboxEntry.of("c", "").withOrderingKey("k"));
        OutboxMessageIdentifier blocking = fail("no");
        outbox.operator("me").erase(List.of(erased));
        assertThat(outbox("requeue", "--all", "--dry-run").out().strip()).isEqualTo("would requeue 2 failed messages");
        assertThat(outbox("purge", "--all", "--dry-run").out().strip()).isEqualTo("would purge 3 failed messages");
        assertThat(outbox("skip", "--all", "--dry-run").out().strip()).isEqualTo("would skip 1 failed message");
        assertThat(outbox("skip", text(plain), text(blocking), NOBODY, "--dry-run")
                        .out()
                        .strip())
                .isEqualTo("would skip 1 failed message");
        assertThat(outbox("purge", "--topic", "a", "--dry-run").out().strip())
                .isEqualTo("would purge 1 failed message");
        assertThat(topics()).containsExactly("c", "b", "a");
    }

    @Test
    void dryRunStopsCountingAtALimitAndSaysSo() throws SQLException {
        Sql.execute(database, """
                insert into %s.outbox (id, created_at, next_attempt_at, ended_at, status, topic, payload)
                select gen_random_uuid(), now(), now(), now(), 3, 'big', '' from generate_series(1, 10001)""");
        assertThat(outbox("requeue", "--all", "--dry-run").out().strip())
                .isEqualTo("would requeue at least 10,000 failed messages");
    }

    @Test
    void purgeByFilterAsksAndPurgeByIdDoesNot() {
        OutboxMessageIdentifier id = dead("a", "no");
        dead("b", "no");
        Ran refused = outbox("purge", "--topic", "b");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("expected --yes");
        Ran no = Ran.answering(() -> false, words("purge", "--topic", "b"));
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("nothing was purged");
        assertThat(topics()).containsExactly("b", "a");
        assertThat(outbox("purge", text(id)).out().strip()).isEqualTo("purged 1 message");
        assertThat(Ran.answering(() -> true, words("purge", "--topic", "b"))
                        .out()
                        .strip())
                .isEqualTo("purged 1 failed message");
        assertThat(topics()).isEmpty();
        assertThat(outbox("purge", "--all", "--yes").out().strip()).isEqualTo("purged 0 failed messages");
    }

    @Test
    void purgeTakesOnlyWhatHadFailedWhenItAsked() {
        dead("a", "before");
        Ran ran = Ran.answering(() -> dead("a", "after").value().version() == 7, words("purge", "--all"));
        assertThat(ran.out().strip()).isEqualTo("purged 1 failed message");
        assertThat(outbox("failed").out()).contains("after").doesNotContain("before");
    }

    @Test
    void skipLetsTheNextOfTheKeyGoOn() {
        outbox.enqueue(OutboxEntry.of("a", "").withOrderingKey("k"));
        OutboxMessageIdentifier next = outbox.enqueue(OutboxEntry.of("a", "").withOrderingKey("k"));
        OutboxMessageIdentifier head = fail("no");
        assertThat(status(next)).isEqualTo(WorkStatus.WAITING);
        assertThat(outbox("skip", text(head)).exitCode()).isZero();
        assertThat(status(next)).isEqualTo(WorkStatus.READY);
        assertThat(outbox("skip", text(head)).exitCode()).isEqualTo(1);
        assertThat(outbox("skip", "--topic", "a").out().strip()).isEqualTo("skipped 0 failed messages");
    }

    @Test
    void cancelEndsWhatNobodyHasClaimed() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("a", ""));
        Ran ran = outbox("cancel", text(id), text(id), NOBODY);
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out()).startsWith("cancelled 1 of 2 messages");
        assertThat(status(id)).isEqualTo(WorkStatus.CANCELLED);
        assertThat(outbox("cancel", text(id)).exitCode()).isEqualTo(1);
    }

    @Test
    void rescheduleMovesTheDueTime() {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of("a", ""));
        assertThat(outbox("reschedule", text(id), "--at", "2999-01-01T00:00:00Z")
                        .exitCode())
                .isZero();
        assertThat(outbox.find(id).orElseThrow().dueTime()).contains(Instant.parse("2999-01-01T00:00:00Z"));
        assertThat(outbox("reschedule", text(id), "--in", "2h").exitCode()).isZero();
        assertThat(outbox.find(id).orElseThrow().dueTime().orElseThrow())
                .isBetween(
                        outbox.find(id).orElseThrow().createdAt().plus(Duration.ofHours(2)),
                        outbox.find(id).orElseThrow().createdAt().plus(Duration.ofHours(3)));
        Ran unknown = outbox("reschedule", NOBODY, "--in", "2h");
        assertThat(unknown.exitCode()).isEqualTo(1);
        assertThat(unknown.err()).contains("rescheduled none of 1 message: each is unknown, being handled, or ended");
    }

    @Test
    void eraseTakesThePayloadAfterAYes() {
        outbox.enqueue(OutboxEntry.of("a", "personal"));
        OutboxMessageIdentifier id = fail("no");
        assertThat(Ran.answering(() -> false, words("erase", text(id))).exitCode())
                .isEqualTo(1);
        assertThat(outbox.find(id).orElseThrow().payload()).isEqualTo("personal");
        assertThat(outbox("erase", text(id), "--yes").out().strip()).isEqualTo("erased 1 message");
        assertThat(outbox.find(id).orElseThrow().payload()).isEmpty();
        assertThat(outbox("erase", text(id), "--yes").exitCode()).isEqualTo(1);
    }

    @Test
    void pauseAndResumeSayWhatWasBefore() {
        assertThat(outbox("paused").out().strip()).isEqualTo("no paused topics");
        assertThat(outbox("pause", "a", "--reason", "the provider is down", "--as", "anna")
                        .out()
                        .strip())
                .isEqualTo("paused topic a");
        assertThat(outbox("pause", "a").out())
                .startsWith("topic a was paused already, since ")
                .contains(" by anna");
        assertThat(outbox("paused").out().lines().skip(1))
                .singleElement()
                .satisfies(line -> assertThat(line).matches("a +\\S+Z  anna  the provider is down"));
        assertThat(outbox("resume", "a").out().strip()).isEqualTo("resumed topic a");
        assertThat(outbox("resume", "a").out()).startsWith("topic a was not paused");
    }

    @Test
    void actionsTellWhoDidWhatToHowMany() {
        dead("a", "no");
        outbox("requeue", "--topic", "a", "--as", "anna");
        outbox("pause", "b");
        assertThat(outbox("actions").out().lines().skip(1))
                .satisfiesExactly(
                        pause -> assertThat(pause)
                                .containsPattern(" \\S+@\\S+ +pause +0 ")
                                .contains("topic b"),
                        requeue -> assertThat(requeue)
                                .containsPattern(" anna +requeue +1 ")
                                .contains("topic a"));
        Ran page = outbox("actions", "--limit", "1");
        String number = page.out().strip().replaceFirst("(?s).*next page: .* --after ", "");
        assertThat(outbox("actions", "--after", number).out())
                .contains("requeue")
                .doesNotContain("pause");
        assertThat(Json.read(outbox("actions", "--json", "--after", number).out())
                        .at("/detail/topic")
                        .asText())
                .isEqualTo("a");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRowThatTheDatabaseQuotesIsNotPrinted(boolean verbose) throws SQLException {
        outbox.enqueue(OutboxEntry.of("a", "s3cr3t"));
        OutboxMessageIdentifier id = fail("no");
        Sql.execute(database, "alter table %s.outbox add constraint keeps_secrets check (status <> 0) not valid");
        try {
            Ran ran = verbose ? outbox("requeue", text(id), "--verbose") : outbox("requeue", text(id));
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.err().lines().findFirst().orElseThrow())
                    .startsWith("windlass: could not requeue")
                    .contains("SQLSTATE 23514", "constraint \"keeps_secrets\"", "the server's log has it");
            assertThat(ran.err()).doesNotContain("s3cr3t");
            assertThat(ran.out()).doesNotContain("s3cr3t");
        } finally {
            Sql.execute(database, "alter table %s.outbox drop constraint keeps_secrets");
        }
    }

    /** What else is ready stays so: a claim begins with any topic. */
    private OutboxMessageIdentifier dead(String topic, String error) {
        OutboxMessageIdentifier id = outbox.enqueue(OutboxEntry.of(topic, ""));
        OwnerToken owner = OwnerToken.fresh();
        outbox.claim(owner, Duration.ofMinutes(1), 100);
        assertThat(outbox.fail(owner, List.of(new OutboxWorkItemIdentifier(id.value())), error))
                .isEqualTo(1);
        outbox.release(owner);
        return id;
    }

    private OutboxMessageIdentifier fail(String error) {
        OwnerToken owner = OwnerToken.fresh();
        OutboxMessage claimed = claim(owner);
        outbox.fail(owner, List.of(claimed.id()), error);
        return claimed.messageId();
    }

    private OutboxMessage claim(OwnerToken owner) {
        return outbox.claim(owner, Duration.ofMinutes(1), 1).get(0);
    }

    private WorkStatus status(OutboxMessageIdentifier id) {
        return outbox.find(id).orElseThrow().status();
    }

    private static String text(OutboxMessageIdentifier id) {
        return id.value().toString();
    }

    private static List<String> topics(String... options) {
        List<String> words = new ArrayList<>(List.of("failed", "--json"));
        words.addAll(List.of(options));
        return outbox(words.toArray(String[]::new))
                .out()
                .lines()
                .map(line -> Json.read(line).get("topic").asText())
                .toList();
    }

    private static Ran outbox(String... words) {
        return Ran.windlass(words(words));
    }

    private static String[] words(String... words) {
        List<String> all = new ArrayList<>(List.of("outbox"));
        all.addAll(List.of(words));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", "postgres", "--schema", database.schema()));
        return all.toArray(String[]::new);
    }

    private static Windlass passive() {
        return database.windlass()
                .options(database.options().withBackgroundWorkers(false))
                .start();
    }
}
