package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.testkit.WindlassExtension;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class InboxCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    private final Windlass windlass = database.windlass()
            .options(database.options().withBackgroundWorkers(false).withNodeName("node-1"))
            .start();

    private final Inbox inbox = windlass.inbox();

    @AfterEach
    void close() {
        windlass.close();
    }

    private static Ran inbox(String... arguments) {
        return inbox(null, arguments);
    }

    private static Ran inbox(@Nullable BooleanSupplier answer, String... arguments) {
        List<String> all = new ArrayList<>(List.of("inbox"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", database.schema()));
        String[] words = all.toArray(String[]::new);
        return answer == null ? Ran.windlass(words) : Ran.answering(answer, words);
    }

    private void failed(String source, String id) {
        Begin.Proceed begun = (Begin.Proceed) inbox.begin(source, id);
        inbox.markDead(begun.attempt(), "cannot\nbe read");
    }

    @Test
    void listFindsMessagesByStateSourceTopicAndTimeWithoutTheirPayloads() {
        failed("orders", "1");
        inbox.enqueue(InboxEntry.of("payments", "2", "a.topic", "my secret"));
        Ran all = inbox("list");
        assertThat(all.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("SOURCE +ID +STATE +TOPIC +TIME +FAILED +LOST +ERROR"),
                        first -> assertThat(first).matches("payments +2 +ready +a.topic +\\S+Z +0 +0 +-"),
                        second -> assertThat(second).matches("orders +1 +failed +- +\\S+Z +1 +0 +cannot be read"));
        assertThat(inbox("list", "--state", "failed").out()).contains("orders ").doesNotContain("payments");
        assertThat(inbox("list", "--source", "payments").out())
                .contains("payments")
                .doesNotContain("orders");
        assertThat(inbox("list", "--topic", "a.topic", "--from", "1h").out()).contains("payments");
        assertThat(inbox("list", "--until", "1h").out().strip()).isEqualTo("no messages");
        assertThat(inbox("list", "--json").out().lines()).hasSize(2).allMatch(line -> line.startsWith("{"));
        assertThat(all.out() + inbox("list", "--json").out()).doesNotContain("secret");
    }

    @Test
    void theLineBelowAFullPageIsTheCommandForTheNext() {
        failed("it's", "1");
        failed("it's", "2");
        inbox.enqueue(InboxEntry.of("payments", "3", "a.topic", "x"));
        List<String> lines = inbox("list", "--limit", "1").out().lines().toList();
        assertThat(lines.get(2)).startsWith("next page: windlass inbox list ").contains(" --limit 1 --after ");
        assertThat(inbox("list", "--after", position(lines.get(2))).out())
                .contains("it's")
                .doesNotContain("payments");
        List<String> failed = inbox("failed", "--source", "it's", "--limit", "1")
                .out()
                .lines()
                .toList();
        assertThat(failed.get(2)).contains("inbox failed ", " --source 'it'\\''s' --limit 1 --after ");
        assertThat(inbox("failed", "--after", position(failed.get(2))).out())
                .containsPattern("it's +1 ")
                .doesNotContainPattern("it's +2 ");
    }

    /** As a shell would read it. */
    private static String position(String line) {
        return line.replaceFirst(".* --after ", "").replace("'", "");
    }

    @Test
    void showTellsWhatIsKnownAndKeepsThePayloadBack() {
        inbox.enqueue(InboxEntry.of("orders", "1", "topic", "secret"));
        Ran ran = inbox("show", "orders", "1");
        assertThat(ran.out())
                .containsPattern("status +ready")
                .containsPattern("topic +topic")
                .doesNotContain("secret");
        assertThat(inbox("show", "orders", "1", "--payload").out()).contains("    secret");
        assertThat(inbox("show", "orders", "1", "--json").out())
                .contains("\"messageId\":\"1\"")
                .doesNotContain("secret");
        assertThat(inbox("show", "orders", "1", "--json", "--payload").out()).contains("\"payload\":\"secret\"");
        Ran unknown = inbox("show", "orders", "2");
        assertThat(unknown.exitCode()).isEqualTo(1);
        assertThat(unknown.err()).contains("expected a message 2 of source orders, found none");
    }

    @Test
    void requeueTakesIdsOrAFilterOrAll() {
        failed("orders", "1");
        failed("orders", "2");
        failed("payments", "3");
        failed("payments", "4");
        assertThat(inbox("requeue", "orders", "1", "9").out())
                .startsWith("requeued 1 of 2 messages; the rest is unknown, not failed, or erased");
        assertThat(inbox("requeue", "--source", "orders").out().strip()).isEqualTo("requeued 1 failed message");
        assertThat(inbox("requeue", "--all").out().strip()).isEqualTo("requeued 2 failed messages");
        Ran none = inbox("requeue", "orders", "9");
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err())
                .contains(
                        "requeued none of 1 message: each is unknown, not failed, or erased;",
                        "'windlass inbox show SOURCE ID'");
    }

    @Test
    void purgeAsksUnlessEachIsNamed() {
        failed("orders", "1");
        failed("orders", "2");
        failed("orders", "3");
        assertThat(inbox("purge", "orders", "1").out().strip()).isEqualTo("purged 1 message");
        assertThat(inbox("purge", "--all").err()).contains("expected --yes");
        assertThat(inbox(() -> false, "purge", "--all").err()).contains("nothing was purged");
        assertThat(inbox(() -> true, "purge", "--all").out().strip()).isEqualTo("purged 2 failed messages");
        assertThat(inbox("purge", "--all", "--yes").out().strip()).isEqualTo("purged 0 failed messages");
    }

    @Test
    void stuckListsWhatNobodyHasEnded() throws SQLException {
        inbox.begin("orders", "1");
        assertThat(inbox("stuck").out().strip()).isEqualTo("no stuck messages");
        Sql.execute(database, "update %s.inbox_seen set claimed_at = claimed_at - interval '2 hours'");
        assertThat(inbox("stuck").out()).containsPattern("orders +1 ");
        assertThat(inbox("stuck", "--older", "3h").out().strip()).isEqualTo("no stuck messages");
    }

    @Test
    void wrongUseIsToldApartFromFailure() {
        for (String[] wrong : new String[][] {
            {},
            {"requeue"},
            {"requeue", "orders"},
            {"purge", "orders", "1", "--all"},
            {"show", "orders"},
            {"stuck", "--older", "soon"},
            {"list", "--source", " "},
            {"list", "--inbox-table", "a$b"},
            {"show", "orders", " "}
        }) {
            assertThat(inbox(wrong).exitCode()).as("%s", List.of(wrong)).isEqualTo(2);
        }
    }

    @Test
    void theBenchmarkRuns() {
        Ran ran = Ran.windlass(
                "bench", "inbox", "--times", "3", "--rounds", "1", "--url", SERVER.jdbcUrl(), "--user", SERVER.user());
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out()).contains("bare upsert of one row", "begin and mark a message", "times an upsert");
    }
}
