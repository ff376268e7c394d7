package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.operator.MessageFilter;
import dev.windlass.operator.OperatorAction;
import dev.windlass.schedule.Timer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
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

final class TimersCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final String NOBODY = "0197c3a2-8f10-7abc-9def-0123456789ab";
    private static final Duration LATER = Duration.ofHours(3);

    private final Windlass windlass = database.windlass()
            .options(database.options().withBackgroundWorkers(false))
            .start();

    private final Timers timers = windlass.timers();

    @AfterEach
    void close() {
        windlass.close();
    }

    private static Ran timers(String... arguments) {
        List<String> all = new ArrayList<>(List.of("timers"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", "postgres", "--schema", database.schema()));
        return Ran.windlass(all.toArray(String[]::new));
    }

    private TimerIdentifier timer(String topic, Duration delay) {
        return timers.schedule(TimerEntry.of(topic, "", delay));
    }

    private TimerIdentifier failedTimer(String topic, String error) {
        TimerIdentifier id = timer(topic, Duration.ZERO);
        OwnerToken owner = OwnerToken.fresh();
        assertThat(timers.claim(owner, Duration.ofMinutes(1), 1)).hasSize(1);
        timers.abandon(owner, List.of(id), LATER, error);
        return id;
    }

    private static String text(TimerIdentifier id) {
        return id.value().toString();
    }

    private Timer find(TimerIdentifier id) {
        return timers.find(id).orElseThrow();
    }

    @Test
    void listShowsTheTimersOfATopicWithTheNextDueFirst() throws SQLException {
        timers.schedule(TimerEntry.of("a", "secret", LATER).ifAbsent("order\u001b[31m 7"));
        failedTimer("a", "first\nsecond line");
        timer("other", LATER);
        Sql.execute(database, "update %s.outbox_timer set due_at = due_at - interval '2 hours' where retry_count > 0");
        Ran ran = timers("list", "--state", "ready", "--topic", "a");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("ID +TOPIC +KEY +DUE +STATE +FAILED +LOST +ERROR"),
                        next -> assertThat(next)
                                .matches("\\S+ +a +order \\[31m 7 +\\S+Z \\(in 2 h \\d+ min\\) +ready +0 +0 +-"),
                        late -> assertThat(late)
                                .matches(
                                        "\\S+ +a +- +\\S+Z \\(2 h( \\d+ min)? late\\) +ready +1 +0 +first second line"));
        assertThat(ran.out()).doesNotContain("secret");
    }

    @Test
    void listTellsWhichSomebodyHandlesNow() {
        timer("a", Duration.ZERO);
        timers.claim(OwnerToken.fresh(), Duration.ofMinutes(1), 1);
        assertThat(timers("list", "--state", "ready").out().strip()).isEqualTo("no timers");
        assertThat(timers("list", "--state", "in-progress").out()).containsPattern(" late\\) +in progress ");
        assertThat(Json.read(timers("list", "--topic", "a", "--state", "in-progress", "--json")
                                .out())
                        .get("status")
                        .asText())
                .isEqualTo("IN_PROGRESS");
    }

    @Test
    void failedTimersAreListedRequeuedAndPurged() {
        TimerIdentifier first = givenUp("a");
        TimerIdentifier second = givenUp("a");
        TimerIdentifier waiting = timer("a", LATER);
        assertThat(timers("list", "--state", "failed").out())
                .contains(text(first), text(second), "broken")
                .doesNotContain(text(waiting));
        assertThat(timers("requeue", text(first), "--as", "anna").out().strip()).isEqualTo("requeued 1 timer");
        assertThat(find(first).status()).isEqualTo(WorkStatus.READY);
        Ran some = timers("purge", text(second), text(waiting), "--as", "anna");
        assertThat(some.out()).startsWith("purged 1 of 2 timers; the rest is unknown, or not failed");
        assertThat(timers.find(second)).isEmpty();
        assertThat(timers("requeue", NOBODY).exitCode()).isEqualTo(1);
        assertThat(timers.operator("me").actions(2))
                .extracting(OperatorAction::verb)
                .containsExactly("requeue", "purge");
        assertThat(timers.operator("me").actions(3).get(2).by()).isEqualTo("anna");
    }

    private TimerIdentifier givenUp(String topic) {
        TimerIdentifier id = timer(topic, Duration.ZERO);
        OwnerToken owner = OwnerToken.fresh();
        timers.claim(owner, Duration.ofMinutes(1), 1);
        timers.fail(owner, List.of(id), "broken");
        return id;
    }

    @Test
    void listWithoutATopicShowsAll() {
        TimerIdentifier later = timer("a", LATER.plusSeconds(2));
        TimerIdentifier next = timer("b", LATER);
        List<String> lines =
                timers("list", "--state", "ready", "--limit", "1").out().lines().toList();
        assertThat(lines.get(1)).startsWith(text(next) + "  b ");
        String position = lines.get(2).replaceFirst(".* --after ", "");
        assertThat(timers("list", "--state", "ready", "--after", position).out())
                .contains(text(later))
                .doesNotContain(text(next));
        assertThat(timers("list", "--json").out()).hasLineCount(2);
    }

    @Test
    void listSaysWhenThereAreNone() {
        assertThat(timers("list", "--topic", "a").out().strip()).isEqualTo("no timers");
        assertThat(timers("failed").out().strip()).isEqualTo("no failed timers");
        assertThat(timers("list", "--json").out()).isEmpty();
    }

    @Test
    void theLineBelowAFullPageIsTheCommandForTheNextAlsoWhenItsLastTimerIsGone() {
        TimerIdentifier first = timer("it's", LATER);
        TimerIdentifier second = timer("it's", LATER.plusSeconds(1));
        List<String> lines = timers("list", "--state", "ready", "--topic", "it's", "--limit", "1")
                .out()
                .lines()
                .toList();
        assertThat(lines.get(1)).startsWith(text(first));
        assertThat(lines.get(2))
                .startsWith("next page: windlass timers list --url ")
                .contains(" --schema " + database.schema() + " --state ready --topic 'it'\\''s' --limit 1 --after ");
        timers.cancel(first);
        String position = lines.get(2).replaceFirst(".* --after ", "");
        assertThat(timers("list", "--state", "ready", "--topic", "it's", "--after", position)
                        .out())
                .contains(text(second));
    }

    @Test
    void jsonHasOneObjectForEachAndNothingElseOnTheOutput() {
        timers.schedule(TimerEntry.of("a", "", LATER).ifAbsent("k").withCorrelationId("order-7"));
        timer("a", LATER);
        Ran ran = timers("list", "--state", "ready", "--json", "--limit", "2");
        assertThat(ran.out()).hasLineCount(2);
        JsonNode first = Json.read(ran.out().lines().findFirst().orElseThrow());
        assertThat(first.get("key").asText()).isEqualTo("k");
        assertThat(first.get("correlationId").asText()).isEqualTo("order-7");
        assertThat(first.get("retryCount").asInt()).isZero();
        assertThat(first.get("lastError").isNull()).isTrue();
        assertThat(Instant.parse(first.get("dueTime").asText()))
                .isEqualTo(timers.find("a", "k").orElseThrow().dueTime());
        assertThat(ran.err()).startsWith("next page: ").contains(" --json ");
    }

    @Test
    void showTellsPayloadAndHeadersOnlyWhenAsked() {
        TimerIdentifier id = timers.schedule(
                TimerEntry.of("a", "my\npayload", LATER).ifAbsent("k").withHeaders(Map.of("trace", "my-header")));
        for (String[] way : new String[][] {{text(id)}, {"--topic", "a", "--key", "k"}}) {
            assertThat(show(way))
                    .containsPattern("id +" + text(id))
                    .containsPattern("key +k")
                    .containsPattern("state +ready")
                    .containsPattern("due at +\\S+Z \\(in 2 h \\d+ min\\)")
                    .doesNotContain("next attempt")
                    .doesNotContain("payload")
                    .doesNotContain("my-header");
        }
        assertThat(show(text(id), "--payload")).contains("trace: my-header").containsPattern(" +my\\R +payload");
        assertThat(show(text(id), "--json")).doesNotContain("payload").doesNotContain("my-header");
        assertThat(Json.read(show(text(id), "--json", "--payload"))
                        .at("/headers/trace")
                        .asText())
                .isEqualTo("my-header");
    }

    private static String show(String... arguments) {
        List<String> all = new ArrayList<>(List.of("show"));
        all.addAll(List.of(arguments));
        Ran ran = timers(all.toArray(String[]::new));
        assertThat(ran.exitCode()).isZero();
        return ran.out();
    }

    @Test
    void showTellsWhyATimerIsTriedAgain() {
        TimerIdentifier id = failedTimer("a", "no\nway");
        assertThat(show(text(id)))
                .containsPattern("retries +1")
                .containsPattern("next attempt at +\\S+Z")
                .containsPattern("last error\\R +no\\R +way");
    }

    @Test
    void showOfAnUnknownTimerFailsAndSaysHowToListOthers() {
        for (String[] way : new String[][] {{"show", NOBODY}, {"show", "--topic", "a", "--key", "k"}}) {
            Ran ran = timers(way);
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.err())
                    .startsWith("windlass: expected a timer ")
                    .contains("'windlass timers list'")
                    .hasLineCount(1);
        }
    }

    @Test
    void showOfATimerThatWasDuePointsToItsMessage() throws SQLException {
        TimerIdentifier id = timer("a", Duration.ZERO);
        Sql.execute(database, "select %s.outbox_timer_hand_off()");
        Ran ran = timers("show", text(id));
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("became a message").contains("'windlass outbox show " + text(id) + "'");
    }

    @Test
    void cancelEndsThoseThatAreLeftAndSaysHowMany() {
        TimerIdentifier first = timer("a", LATER);
        TimerIdentifier second = timer("a", LATER);
        assertThat(timers("cancel", text(first), text(first)).out().strip()).isEqualTo("cancelled 1 timer");
        Ran some = timers("cancel", text(second), text(first));
        assertThat(some.exitCode()).isZero();
        assertThat(some.out())
                .startsWith("cancelled 1 of 2 timers; the rest is unknown, being handled, failed, or done");
        assertThat(timers.operator("me").list(MessageFilter.all(), 10)).isEmpty();
        Ran none = timers("cancel", text(first));
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err()).contains("cancelled none of 1 timer").contains("'windlass timers show ID'");
    }

    @Test
    void cancelAlsoTakesATopicAndAKey() {
        timers.schedule(TimerEntry.of("a", "", LATER).ifAbsent("k"));
        timers.schedule(TimerEntry.of("b", "", LATER).ifAbsent("k"));
        Ran ran = timers("cancel", "--topic", "a", "--key", "k");
        assertThat(ran.out().strip()).isEqualTo("cancelled 1 timer");
        assertThat(timers.find("a", "k")).isEmpty();
        assertThat(timers.find("b", "k")).isPresent();
        Ran again = timers("cancel", "--topic", "a", "--key", "k");
        assertThat(again.exitCode()).isEqualTo(1);
        assertThat(again.err()).contains("expected a timer of topic a with key k, found none");
    }

    @Test
    void rescheduleMovesTheDueTime() {
        TimerIdentifier id = timers.schedule(TimerEntry.of("a", "", LATER).ifAbsent("k"));
        assertThat(timers("reschedule", text(id), "--at", "2999-01-01T00:00:00Z")
                        .out()
                        .strip())
                .isEqualTo("rescheduled 1 timer" + System.lineSeparator() + "due at 2999-01-01T00:00:00Z");
        assertThat(find(id).dueTime()).isEqualTo(Instant.parse("2999-01-01T00:00:00Z"));
        assertThat(timers("reschedule", "--topic", "a", "--key", "k", "--in", "5h")
                        .exitCode())
                .isZero();
        assertThat(find(id).dueTime())
                .isBetween(
                        find(id).createdAt().plus(Duration.ofHours(5)),
                        find(id).createdAt().plus(Duration.ofHours(6)));
        Ran unknown = timers("reschedule", NOBODY, "--in", "2h");
        assertThat(unknown.exitCode()).isEqualTo(1);
        assertThat(unknown.err()).contains("rescheduled none of 1 timer: each is unknown");
    }

    @Test
    void rescheduleRefusesATimerThatSomebodyHandles() {
        TimerIdentifier id = timer("a", Duration.ZERO);
        timers.claim(OwnerToken.fresh(), Duration.ofMinutes(1), 1);
        Ran ran = timers("reschedule", text(id), "--in", "2h");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("rescheduled none of 1 timer: each is unknown, being handled, failed, or done");
    }
}
