package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.Begin;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.Timers;
import dev.windlass.testkit.WindlassExtension;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkItem;
import dev.windlass.work.WorkQueue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

final class StatusCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    @Test
    void missingSchemaIsOneSentenceThatNamesTheRemedy() {
        Ran ran = Ran.windlass("status", "--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", "nowhere");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .startsWith("windlass: expected Windlass's tables in schema \"nowhere\"")
                .contains("'windlass migrate'")
                .hasLineCount(1);
    }

    @Test
    void emptyOutboxSaysSo() {
        try (Windlass windlass = passive()) {
            assertThat(windlass.isRunning()).isTrue();
            assertThat(status().out().strip()).isEqualTo("no messages in the outbox");
        }
    }

    @Test
    void theInboxIsOneLineOnceItHasSeenMessages() {
        try (Windlass windlass = passive()) {
            Inbox inbox = windlass.inbox();
            inbox.enqueue(InboxEntry.of("orders", "1", "a.topic", ""));
            inbox.begin("orders", "2");
            if (inbox.begin("orders", "3") instanceof Begin.Proceed proceed) {
                inbox.markProcessed(proceed.attempt());
            }
            assertThat(status().out().lines())
                    .containsExactly("no messages in the outbox", "inbox: 1 ready, 1 in progress, 1 done, 0 failed");
        }
    }

    @Test
    void timersAreOneLineOnceThereAreAny() throws SQLException {
        try (Windlass windlass = passive()) {
            Timers timers = windlass.timers();
            timers.schedule(TimerEntry.of("a.topic", "", Duration.ofHours(3)));
            timers.schedule(TimerEntry.of("b.topic", "", Instant.parse("2999-01-01T00:00:00Z")));
            assertThat(status().out().lines())
                    .last()
                    .asString()
                    .matches("timers: 2 pending, the next due in 2 h \\d+ min, 0 overdue by more than a minute");
            Sql.execute(database, """
                    insert into %s.outbox_timer (id, created_at, due_at, next_attempt_at, topic, payload)
                    select gen_random_uuid(), now(), now(), now() - make_interval(mins => n), 'late', ''
                      from generate_series(0, 5) as n""");
            timers.claim(OwnerToken.fresh(), Duration.ofMinutes(1), 1);
            assertThat(status().out().lines())
                    .last()
                    .asString()
                    .matches(
                            "timers: 7 pending, 1 claimed, the next due 4 min.* late, 4 overdue by more than a minute");
        }
    }

    @Test
    void timersAreCountedUpToALimit() throws SQLException {
        try (Windlass windlass = passive()) {
            assertThat(windlass.isRunning()).isTrue();
            Sql.execute(database, """
                    insert into %s.outbox_timer (id, created_at, due_at, next_attempt_at, topic, payload)
                    select gen_random_uuid(), now(), now(), now() - interval '1 hour', 'late', ''
                      from generate_series(1, 10001)""");
            assertThat(status().out()).contains("timers: 10000+ pending", " 10000+ overdue");
        }
    }

    @Test
    void jobsAreOneLineOnceThereAreAny() throws SQLException {
        try (Windlass windlass = passive()) {
            Jobs jobs = windlass.jobs();
            jobs.save(Job.every("a", Duration.ofHours(3)).withTopic("t"));
            jobs.save(Job.every("b", Duration.ofHours(5)).withTopic("t"));
            jobs.save(Job.every("c", Duration.ofHours(1)).withTopic("t"));
            jobs.pause("c");
            assertThat(status().out().lines())
                    .last()
                    .asString()
                    .matches("jobs: 3, 1 paused, 0 with a problem, the next due in 2 h \\d+ min");
            jobs.pause("a");
            jobs.pause("b");
            Sql.execute(database, "update %s.outbox_job set problem = 'p' where name = 'a'");
            assertThat(status().out().lines()).last().isEqualTo("jobs: 3, 3 paused, 1 with a problem");
        }
    }

    @Test
    void everyStateIsCountedForItsTopic() {
        try (Windlass windlass = passive()) {
            Outbox outbox = windlass.outbox();
            for (int i = 0; i < 4; i++) {
                outbox.enqueue(OutboxEntry.of("b.topic", ""));
            }
            OwnerToken owner = OwnerToken.fresh();
            List<OutboxMessage> claimed = outbox.claim(owner, Duration.ofMinutes(1), 3);
            outbox.ack(owner, List.of(claimed.get(0).id()));
            outbox.fail(owner, List.of(claimed.get(1).id()), "for a reason");
            outbox.enqueue(OutboxEntry.of("a.topic", "").withDelay(Duration.ofHours(1)));
            Ran ran = status();
            assertThat(ran.exitCode()).isZero();
            assertThat(ran.out().lines().map(String::strip))
                    .satisfiesExactly(
                            head -> assertThat(head).startsWith("TOPIC"),
                            a -> assertThat(a).matches("a\\.topic +1 +0 +0 +0 +0 +0 +0 +-"),
                            b -> assertThat(b).matches("b\\.topic +1 +1 +0 +1 +1 +1 +0 +\\d+ s"));
        }
    }

    @Test
    void whatWaitsBehindAKeyAndTheKeysThatAreBlockedAreCounted() {
        try (Windlass windlass = passive()) {
            Outbox outbox = windlass.outbox();
            for (int i = 0; i < 3; i++) {
                outbox.enqueue(OutboxEntry.of("keyed", "").withOrderingKey("a"));
            }
            OwnerToken owner = OwnerToken.fresh();
            outbox.fail(
                    owner,
                    List.of(outbox.claim(owner, Duration.ofMinutes(1), 1).get(0).id()),
                    "for a reason");
            assertThat(status().out().lines().skip(1))
                    .singleElement()
                    .satisfies(line -> assertThat(line).matches("keyed +0 +0 +2 +0 +0 +1 +1 +-"));
        }
    }

    @Test
    void pausedTopicsAreMarkedAlsoWithoutMessages() {
        try (Windlass windlass = passive()) {
            windlass.outbox().enqueue(OutboxEntry.of("busy", ""));
            windlass.outbox().operator("me").pause("busy", "");
            windlass.outbox().operator("me").pause("empty", "");
            assertThat(status().out().lines().skip(1))
                    .satisfiesExactly(
                            busy -> assertThat(busy).matches("busy \\(paused\\) +1 +1 +0 .*"),
                            empty -> assertThat(empty).matches("empty \\(paused\\) +0 +0 +0 .*"));
        }
    }

    @Test
    void countingStopsAtALimitAndSaysSo() throws SQLException {
        try (Windlass windlass = passive()) {
            assertThat(windlass.isRunning()).isTrue();
            Sql.execute(database, """
                    insert into %s.outbox (id, created_at, next_attempt_at, topic, payload)
                    select gen_random_uuid(), now(), now(), 'big', '' from generate_series(1, 10001)""");
            windlass.outbox().enqueue(OutboxEntry.of("small", ""));
            String out = status().out();
            assertThat(out.lines().filter(line -> line.startsWith("big")))
                    .singleElement()
                    .satisfies(line -> assertThat(line).matches("big +10000\\+ +10000\\+ +0 +0 +0 +0 +0 .*"));
            assertThat(out.lines().filter(line -> line.startsWith("small")))
                    .singleElement()
                    .satisfies(line -> assertThat(line).matches("small +1 +1 +0 +0 +0 +0 +0 .*"));
            assertThat(out).contains("A + means at least");
        }
    }

    @Test
    void everyQueueOfTheWorkQueueIsCountedWithItsLimit() {
        try (Windlass windlass = passive()) {
            WorkQueue queue = windlass.workQueue();
            WorkEntry report = WorkEntry.of("reports", "monthly", "");
            for (int priority = 0; priority < 4; priority++) {
                queue.enqueue(report.withPriority(priority));
            }
            OwnerToken owner = OwnerToken.fresh();
            List<WorkItem> claimed = queue.claim(owner, Duration.ofMinutes(1), 3);
            queue.ack(owner, List.of(claimed.get(0).id()));
            queue.fail(owner, List.of(claimed.get(1).id()), "for a reason");
            queue.enqueue(report.withKey("a"));
            queue.enqueue(report.withKey("b").withDelay(Duration.ofHours(1)));
            queue.operator("me")
                    .limit("reports", TopicLimit.none().withRunning(5).withPerKey(1));
            queue.operator("me").pause("empty", "");
            windlass.outbox().operator("me").limit("a.topic", TopicLimit.none().withRunning(2));
            assertThat(status().out().lines().map(String::strip))
                    .satisfiesExactly(
                            head -> assertThat(head).startsWith("TOPIC"),
                            topic -> assertThat(topic).matches("a\\.topic \\(limited\\) +0 .*"),
                            head -> assertThat(head)
                                    .matches("QUEUE +READY +DUE +IN PROGRESS +DONE +FAILED +OLDEST DUE +LIMIT"),
                            empty -> assertThat(empty).matches("empty \\(paused\\) +0 +0 +0 +0 +0 +- +-"),
                            reports -> assertThat(reports)
                                    .matches("reports +3 +2 +1 +1 +1 +\\d+ s +5 running, 1 per key"));
            JsonNode json = Json.read(status("--json").out());
            assertThat(json.at("/topics/0/limit/running").asInt()).isEqualTo(2);
            assertThat(json.at("/queues/0/paused").asBoolean()).isTrue();
            assertThat(json.at("/queues/0/limit").isNull()).isTrue();
            assertThat(json.at("/queues/1/queue").asText()).isEqualTo("reports");
            assertThat(json.at("/queues/1/due").asInt()).isEqualTo(2);
            assertThat(json.at("/queues/1/limit/perKey").asInt()).isEqualTo(1);
            assertThat(json.at("/queues/1").has("blockedKeys")).isFalse();
        }
    }

    @Test
    void countingStopsAtALimitForEachQueue() throws SQLException {
        try (Windlass windlass = passive()) {
            assertThat(windlass.isRunning()).isTrue();
            Sql.execute(database, """
                    insert into %s.work
                        (id, created_at, next_attempt_at, topic, type, payload, priority, keyed, turn_key)
                    select gen_random_uuid(), now(), now(), q.queue, 't', '', q.priority, q.key is not null, q.key
                      from generate_series(1, 10001),
                           (values ('plain', 2, null), ('plain', 7, null), ('keys', 4, 'a')) as q (queue, priority, key)""");
            assertThat(status().out().lines())
                    .anySatisfy(line -> assertThat(line).matches("plain +10000\\+ +10000\\+ +0 .*"))
                    .anySatisfy(line -> assertThat(line).matches("keys +10000\\+ +10000\\+ +0 .*"))
                    .anySatisfy(line -> assertThat(line).startsWith("A + means at least"));
        }
    }

    @Test
    void jsonIsOneObjectWithNumbers() throws SQLException {
        try (Windlass windlass = passive()) {
            Sql.execute(database, """
                    insert into %s.outbox (id, created_at, next_attempt_at, topic, payload)
                    select gen_random_uuid(), now(), now(), 'big', '' from generate_series(1, 10001)""");
            windlass.outbox().operator("me").pause("empty", "");
            windlass.timers().schedule(TimerEntry.of("a.topic", "", Duration.ofHours(3)));
            Ran ran = status("--json");
            assertThat(ran.out()).hasLineCount(1);
            JsonNode json = Json.read(ran.out());
            assertThat(json.at("/topics/0/topic").asText()).isEqualTo("big");
            assertThat(json.at("/topics/0/ready").asLong()).isEqualTo(10_000);
            assertThat(json.at("/topics/0/atLeast").toString()).isEqualTo("[\"ready\",\"due\"]");
            assertThat(json.at("/topics/1/paused").asBoolean()).isTrue();
            assertThat(json.at("/topics/1/oldestDueSeconds").isNull()).isTrue();
            assertThat(json.at("/timers/pending").asLong()).isEqualTo(1);
            assertThat(json.at("/timers/nextDueInSeconds").asLong()).isBetween(10_700L, 10_800L);
            assertThat(json.at("/inbox/failed").asLong()).isZero();
            assertThat(json.at("/jobs/jobs").asLong()).isZero();
        }
    }

    @Test
    void linesFitANarrowScreen() {
        try (Windlass windlass = passive()) {
            windlass.outbox()
                    .enqueue(OutboxEntry.of("a.topic.with.a.long.name", "").withOrderingKey("a"));
            windlass.outbox()
                    .enqueue(OutboxEntry.of("a.topic.with.a.long.name", "").withOrderingKey("a"));
            windlass.timers().schedule(TimerEntry.of("a.topic", "", Duration.ofHours(3)));
            for (String columns : List.of("50", "80")) {
                Ran ran = Ran.windlass(Map.of("COLUMNS", columns), words());
                assertThat(ran.out().lines())
                        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(Integer.parseInt(columns)));
                assertThat(ran.out()).contains("a.topic.with.a.long.name").containsIgnoringCase("waiting");
            }
        }
    }

    @Test
    void watchShowsItInOnePlaceOnATerminal(@TempDir Path directory) throws Exception {
        assumeTrue(Screen.isPossible(), "needs the program script");
        try (Windlass windlass = passive();
                Screen screen = Screen.of(
                        directory, 70, Map.of(), Screen.windlass() + " " + String.join(" ", words("--watch=1s")))) {
            screen.await("no messages in the outbox");
            windlass.outbox().enqueue(OutboxEntry.of("new.topic", ""));
            screen.await("new.topic");
            assertThat(screen.text()).startsWith("\u001b[").contains("\u001b[H", "\u001b[K", "every 1 s");
        }
    }

    @Test
    void watchRepeatsPlainLinesWhereThereIsNoTerminalAndEndsWithItsReader(@TempDir Path directory) throws Exception {
        try (Windlass windlass = passive()) {
            windlass.outbox().enqueue(OutboxEntry.of("a.topic", ""));
            Process process = new ProcessBuilder(
                            "sh",
                            "-c",
                            Screen.windlass() + " " + String.join(" ", words("--watch=1s")) + " | head -n 7")
                    .redirectError(directory.resolve("err").toFile())
                    .start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(out.lines().filter(line -> line.startsWith("a.topic "))).hasSize(2);
            assertThat(out).doesNotContain("\u001b");
            assertThat(Files.readString(directory.resolve("err"))).isEmpty();
        }
    }

    private static Windlass passive() {
        return database.windlass()
                .options(database.options().withBackgroundWorkers(false))
                .start();
    }

    private static Ran status(String... more) {
        return Ran.windlass(words(more));
    }

    private static String[] words(String... more) {
        List<String> words = new ArrayList<>(
                List.of("status", "--url", SERVER.jdbcUrl(), "--user", "postgres", "--schema", database.schema()));
        words.addAll(List.of(more));
        return words.toArray(String[]::new);
    }
}
