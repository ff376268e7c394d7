package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.testkit.WindlassExtension;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import dev.windlass.work.WorkItem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is the work queue's own; what it has in common with others is in {@link EveryQueueTest}. */
final class WorkCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final WorkEntry REPORT = WorkEntry.of("reports", "monthly", "secret payload");

    private final Windlass windlass = database.windlass()
            .options(database.options().withBackgroundWorkers(false))
            .start();

    private final OwnerToken owner = OwnerToken.fresh();

    @AfterEach
    void close() {
        windlass.close();
    }

    private static Ran queue(String... arguments) {
        List<String> all = new ArrayList<>(List.of("queue"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", database.schema()));
        return Ran.windlass(all.toArray(String[]::new));
    }

    private static String done(String... arguments) {
        Ran ran = queue(arguments);
        assertThat(ran.exitCode()).as(ran.err()).isZero();
        return ran.out().strip();
    }

    private WorkIdentifier written(WorkEntry entry) {
        return windlass.workQueue().enqueue(entry);
    }

    private WorkIdentifier running(WorkEntry entry) {
        WorkIdentifier id = written(entry);
        assertThat(windlass.workQueue().claim(owner, MINUTE, 1)).hasSize(1);
        return id;
    }

    private WorkItem stored(WorkIdentifier id) {
        return windlass.workQueue().find(id).orElseThrow();
    }

    @Test
    void listTellsQueueTypePriorityKeyAndProgress() {
        WorkIdentifier running = running(REPORT.withPriority(7).withKey("customer\u001b[31m 8"));
        windlass.workQueue().heartbeat(owner, running, MINUTE, 40, "page 2\nof 5");
        WorkIdentifier ready = written(WorkEntry.of("mails", "welcome", "secret payload"));

        String list = done("list");

        assertThat(list.lines())
                .satisfiesExactly(
                        head -> assertThat(head)
                                .matches(
                                        "ID +QUEUE +TYPE +STATE +CREATED +PRIORITY +KEY +FAILED +LOST +PROGRESS +ERROR"),
                        mail -> assertThat(mail).matches(ready + " +mails +welcome +ready +\\S+Z +4 +- +0 +0 +- +-"),
                        report -> assertThat(report)
                                .matches(
                                        running
                                                + " +reports +monthly +in progress +\\S+Z +7 +customer \\[31m 8 +0 +0 +40% page 2 of 5 +-"));
        assertThat(done("list", "--topic", "mails")).contains(ready.toString()).doesNotContain(running.toString());
        JsonNode json = Json.read(done("list", "--state", "in-progress", "--json"));
        assertThat(json.get("progress").asInt()).isEqualTo(40);
        assertThat(json.get("queue").asText() + json.get("type").asText()).isEqualTo("reportsmonthly");
    }

    @Test
    void readyItemsWithAndWithoutKeysAreListedByTheirTime() {
        WorkIdentifier later = written(REPORT.withDelay(Duration.ofHours(2)).withPriority(9));
        WorkIdentifier keyed = written(REPORT.withDelay(Duration.ofHours(1)).withKey("a"));
        WorkIdentifier first = written(REPORT.withPriority(0));

        assertThat(done("list", "--state", "ready").lines().skip(1).map(line -> line.split(" ", 2)[0]))
                .containsExactly(first.toString(), keyed.toString(), later.toString());
    }

    @Test
    void showTellsWhoHasItAndHowFarItIs() {
        WorkIdentifier id = running(REPORT.withKey("customer 8")
                .ifAbsent("report of march")
                .withCorrelationId("order 9")
                .withHeaders(Map.of("trace", "secret header")));
        windlass.workQueue().heartbeat(owner, id, MINUTE, 40, "page 2");

        String shown = done("show", id.toString());

        assertThat(shown)
                .containsPattern("queue +reports\\R")
                .containsPattern("type +monthly\\R")
                .containsPattern("status +in progress\\R")
                .containsPattern("priority +4\\R")
                .containsPattern("key +customer 8\\R")
                .containsPattern("unique key +report of march\\R")
                .containsPattern("correlation id +order 9\\R")
                .containsPattern("owner +" + owner + "\\R")
                .containsPattern("lease until +\\S+Z\\R")
                .containsPattern("progress +40% page 2\\R")
                .doesNotContain("secret");
        JsonNode json = Json.read(done("show", id.toString(), "--json"));
        assertThat(json.get("claimedBy").asText()).isEqualTo(owner.toString());
        assertThat(json.get("leaseExpiresAt").isNull()).isFalse();
        assertThat(json.has("payload")).isFalse();
    }

    @Test
    void payloadAndResultAreShownOnlyOnRequest() {
        WorkIdentifier id = running(REPORT.withHeaders(Map.of("trace", "secret header")));
        windlass.workQueue().complete(owner, id, "secret result");

        assertThat(done("show", id.toString()) + done("show", id.toString(), "--json") + done("list", "--json"))
                .contains("done")
                .doesNotContain("secret");
        assertThat(done("show", id.toString(), "--payload"))
                .contains("trace: secret header", "secret payload", "secret result");
        JsonNode json = Json.read(done("show", id.toString(), "--payload", "--json"));
        assertThat(json.get("result").asText()).isEqualTo("secret result");
        done("erase", id.toString(), "--yes");
        assertThat(done("show", id.toString(), "--payload")).doesNotContain("secret");
    }

    @Test
    void cancelEndsWhatIsReadyAndAsksWhatIsRunningToStop() {
        WorkIdentifier running = running(REPORT);
        WorkIdentifier ready = written(REPORT);
        WorkIdentifier ended = written(REPORT);
        windlass.workQueue().cancel(ended);

        assertThat(done("cancel", ready.toString(), running.toString(), ended.toString())
                        .lines())
                .satisfiesExactly(
                        count -> assertThat(count)
                                .startsWith("cancelled 2 of 3 items; the rest is unknown, or ended: look with"),
                        asked -> assertThat(asked).startsWith("1 is in progress: its handler was asked to stop"));

        assertThat(stored(ready).status()).isEqualTo(WorkStatus.CANCELLED);
        assertThat(stored(running).status()).isEqualTo(WorkStatus.IN_PROGRESS);
        assertThat(stored(running).cancelAskedAt()).isPresent();
        assertThat(done("show", running.toString())).contains("asked to stop");
        Ran none = queue("cancel", ended.toString());
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err())
                .startsWith("windlass: cancelled none of 1 item: each is unknown, or ended;")
                .hasLineCount(1);
    }

    @Test
    void aRunningItemStopsWhenItIsCancelledFromTheCommandLine() throws Exception {
        try (Windlass node = Windlass.on(database.dataSource())
                .options(WindlassOptions.defaults().withSchemaName(database.schema()))
                .workHandler("reports", "monthly", (item, context) -> {
                    while (!context.isCancelled()) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    throw new InterruptedException("told to stop");
                })
                .start()) {
            WorkIdentifier id = node.workQueue().enqueue(REPORT);
            eventually().until(() -> stored(id).status() == WorkStatus.IN_PROGRESS);

            assertThat(done("cancel", id.toString())).contains("its handler was asked to stop");

            assertThat(node.workQueue().await(id, MINUTE).status()).isEqualTo(WorkStatus.CANCELLED);
        }
    }

    @Test
    void aLimitPerKeyIsForTheWorkQueueAlone() {
        assertThat(done("limit", "reports", "--running", "5", "--per-key", "1"))
                .isEqualTo("limited queue reports: 5 running, 1 per key");
        written(REPORT.withKey("a"));
        written(REPORT.withKey("a"));
        written(REPORT.withKey("b"));
        assertThat(windlass.workQueue().claim(owner, MINUTE, 10)).hasSize(2);
        assertThat(done("limits")).containsPattern("QUEUE +RUNNING +PER KEY +RATE\\Rreports +5 +1 +-");
        assertThat(Ran.windlass("outbox", "limit", "a", "--per-key", "1").exitCode())
                .isEqualTo(2);
        assertThat(Ran.windlass("outbox", "limit", "--help").out()).doesNotContain("--per-key");
    }

    @Test
    void aQueueOfItemsWithKeysIsKnown() {
        written(REPORT.withKey("a"));
        assertThat(queue("pause", "reports").err()).isEmpty();
    }

    @Test
    void oneWhoseUniqueKeyAnotherHasCannotBeRequeued() {
        WorkIdentifier first = running(REPORT.ifAbsent("march"));
        windlass.workQueue().fail(owner, List.of(first), "no");
        written(REPORT.ifAbsent("march"));

        Ran ran = queue("requeue", first.toString());

        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .contains("has a unique key that another one has by now")
                .hasLineCount(1);
    }

    @Test
    void helpSpeaksOfItemsAndQueues() {
        assertThat(Ran.windlass("queue", "pause", "--help").out())
                .contains("items of a queue", " QUEUE ")
                .doesNotContain("TOPIC", "--source");
        assertThat(Ran.windlass("queue", "list", "--help").out()).doesNotContain("--source");
        assertThat(Ran.windlass("queue", "cancel", "--help").out()).contains("asked to stop");
        assertThat(Ran.windlass("outbox", "cancel", "--help").out()).contains("nobody has claimed yet");
    }

    @Test
    void whatIsNotThereIsSaidInOneSentence() {
        UUID unknown = UUID.randomUUID();
        Ran ran = queue("show", unknown.toString());
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err()).contains("expected an item with id " + unknown).hasLineCount(1);
        Ran wrong = queue("show", "x");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("expected the id of an item such as");
    }
}
