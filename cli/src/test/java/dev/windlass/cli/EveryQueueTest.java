package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.inbox.InboxEntry;
import dev.windlass.inbox.InboxMessage;
import dev.windlass.operator.Operator;
import dev.windlass.operator.OperatorAction;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.testkit.WindlassExtension;
import dev.windlass.work.WorkEntry;
import dev.windlass.work.WorkIdentifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Whoever knows the commands of one queue knows those of all. */
final class EveryQueueTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final String NOBODY = "0197c3a2-8f10-7abc-9def-0123456789ab";

    private final Windlass windlass = database.windlass()
            .options(database.options().withBackgroundWorkers(false))
            .schedule(ScheduleOptions.defaults().withHandOff(false))
            .start();

    private int written;

    @AfterEach
    void close() {
        windlass.close();
    }

    enum Kind {
        OUTBOX("outbox", "message", "topic"),
        INBOX("inbox", "message", "topic"),
        WORK("queue", "item", "queue"),
        TIMERS("timers", "timer", "topic"),
        RUNS("runs", "run", "topic");

        final String word;
        final String noun;
        final String topic;

        Kind(String word, String noun, String topic) {
            this.word = word;
            this.noun = noun;
            this.topic = topic;
        }

        /** Nodes make messages of what is in it. */
        boolean isHandedOff() {
            return this == TIMERS || this == RUNS;
        }
    }

    /** Writes one that can be claimed at once, with a secret in it. Returns its id. */
    private String ready(Kind kind, String topic) {
        return switch (kind) {
            case OUTBOX ->
                windlass.outbox().enqueue(OutboxEntry.of(topic, "secret")).toString();
            case INBOX -> {
                String id = "m-" + written++;
                windlass.inbox().enqueue(InboxEntry.of("source", id, topic, "secret"));
                yield id;
            }
            case WORK ->
                windlass.workQueue()
                        .enqueue(WorkEntry.of(topic, "type", "secret"))
                        .toString();
            case TIMERS ->
                windlass.timers()
                        .schedule(TimerEntry.of(topic, "secret", Duration.ZERO))
                        .toString();
            case RUNS -> {
                windlass.jobs()
                        .save(Job.every("source", Duration.ofDays(9))
                                .withTopic(topic)
                                .withPayload("secret"));
                yield windlass.jobs().trigger("source").id().toString();
            }
        };
    }

    /** Claims all that is ready. */
    private OwnerToken claimed(Kind kind) {
        OwnerToken owner = OwnerToken.fresh();
        switch (kind) {
            case OUTBOX -> windlass.outbox().claim(owner, MINUTE, 100);
            case INBOX -> windlass.inbox().claim(owner, MINUTE, 100);
            case WORK -> windlass.workQueue().claim(owner, MINUTE, 100);
            case TIMERS -> windlass.timers().claim(owner, MINUTE, 100);
            case RUNS -> windlass.jobs().runClaims().claim(owner, MINUTE, 100);
        }
        return owner;
    }

    /** Writes one that failed; nothing else may be ready. */
    private String failed(Kind kind, String topic, String error) {
        String id = ready(kind, topic);
        OwnerToken owner = OwnerToken.fresh();
        switch (kind) {
            case OUTBOX ->
                windlass.outbox()
                        .fail(
                                owner,
                                windlass.outbox().claim(owner, MINUTE, 1).stream()
                                        .map(OutboxMessage::id)
                                        .toList(),
                                error);
            case INBOX ->
                windlass.inbox()
                        .fail(
                                owner,
                                windlass.inbox().claim(owner, MINUTE, 1).stream()
                                        .map(InboxMessage::id)
                                        .toList(),
                                error);
            case WORK -> {
                windlass.workQueue().claim(owner, MINUTE, 1);
                windlass.workQueue().fail(owner, List.of(new WorkIdentifier(UUID.fromString(id))), error);
            }
            case TIMERS -> {
                windlass.timers().claim(owner, MINUTE, 1);
                windlass.timers().fail(owner, List.of(new TimerIdentifier(UUID.fromString(id))), error);
            }
            case RUNS -> {
                windlass.jobs().runClaims().claim(owner, MINUTE, 1);
                windlass.jobs().runClaims().fail(owner, List.of(new JobRunIdentifier(UUID.fromString(id))), error);
            }
        }
        return id;
    }

    private Optional<WorkStatus> status(Kind kind, String id) {
        return switch (kind) {
            case OUTBOX ->
                windlass.outbox()
                        .find(new OutboxMessageIdentifier(UUID.fromString(id)))
                        .map(OutboxMessage::status);
            case INBOX -> windlass.inbox().find("source", id).map(message -> message.status());
            case WORK ->
                windlass.workQueue()
                        .find(new WorkIdentifier(UUID.fromString(id)))
                        .map(item -> item.status());
            case TIMERS ->
                windlass.timers().find(new TimerIdentifier(UUID.fromString(id))).map(timer -> timer.status());
            case RUNS ->
                windlass.jobs()
                        .findRun(new JobRunIdentifier(UUID.fromString(id)))
                        .map(run -> run.status());
        };
    }

    private Operator<?, ?> operator(Kind kind) {
        return switch (kind) {
            case OUTBOX -> windlass.outbox().operator("me");
            case INBOX -> windlass.inbox().operator("me");
            case WORK -> windlass.workQueue().operator("me");
            case TIMERS -> windlass.timers().operator("me");
            case RUNS -> windlass.jobs().operator("me");
        };
    }

    /** A verb and ids, with the source before them where a message has one. */
    static String[] verb(Kind kind, String verb, String... ids) {
        List<String> words = new ArrayList<>(List.of(verb));
        if (kind == Kind.INBOX) {
            words.add("source");
        }
        words.addAll(List.of(ids));
        return words.toArray(String[]::new);
    }

    private static String[] and(String[] words, String... more) {
        List<String> all = new ArrayList<>(List.of(words));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private static String[] words(Kind kind, String... arguments) {
        List<String> all = new ArrayList<>(List.of(kind.word));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", database.schema()));
        return all.toArray(String[]::new);
    }

    private static Ran run(Kind kind, String... arguments) {
        return Ran.windlass(words(kind, arguments));
    }

    private static String done(Kind kind, String... arguments) {
        Ran ran = run(kind, arguments);
        assertThat(ran.exitCode()).as(ran.err()).isZero();
        return ran.out().strip();
    }

    @ParameterizedTest
    @EnumSource
    void listShowsEachStateAndNoPayload(Kind kind) {
        String failed = failed(kind, "a", "first\nsecond\u001b[31m line");
        String begun = ready(kind, "a");
        claimed(kind);
        String ready = ready(kind, "a");
        assertThat(done(kind, "list", "--state", "ready")).contains(ready).doesNotContain(begun, failed);
        assertThat(done(kind, "list", "--state", "in-progress")).contains(begun).doesNotContain(ready, failed);
        assertThat(done(kind, "failed"))
                .contains(failed, "first second [31m line")
                .doesNotContain(ready, begun);
        assertThat(done(kind, "list", "--state", "done")).isEqualTo("no " + kind.noun + "s");
        assertThat(done(kind, "list", "--json").lines()).hasSize(3).allMatch(line -> line.startsWith("{"));
        assertThat(done(kind, "list") + done(kind, "list", "--json"))
                .contains(ready, begun, failed)
                .doesNotContain("secret");
        assertThat(done(kind, and(verb(kind, "show", failed), "--json")))
                .contains("\"failures\":[{", "FAILED")
                .doesNotContain("secret");
        assertThat(done(kind, verb(kind, "show", failed)))
                .containsPattern("FAILED AT +ATTEMPT +NODE +ERROR\\R\\S+Z +1 ")
                .doesNotContain("secret");
    }

    @ParameterizedTest
    @EnumSource
    void failedOnesAreFoundByTopicErrorTimeAndSource(Kind kind) {
        String first = failed(kind, "a", "Time-out");
        String second = failed(kind, "b", "refused");
        assertThat(done(kind, "failed", "--topic", "a")).contains(first).doesNotContain(second);
        assertThat(done(kind, "failed", "--error", "time-OUT")).contains(first).doesNotContain(second);
        assertThat(done(kind, "failed", "--from", "1h")).contains(first, second);
        assertThat(done(kind, "failed", "--until", "1h")).isEqualTo("no failed " + kind.noun + "s");
        if (kind != Kind.TIMERS && kind != Kind.WORK) {
            assertThat(done(kind, "failed", "--source", "none")).isEqualTo("no failed " + kind.noun + "s");
        }
        if (kind == Kind.INBOX || kind == Kind.RUNS) {
            assertThat(done(kind, "failed", "--source", "source")).contains(first, second);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "OUTBOX,failed", "OUTBOX,list", "OUTBOX,list --state ready", "OUTBOX,actions",
        "INBOX,failed", "INBOX,list", "INBOX,list --state ready", "INBOX,actions",
        "WORK,failed", "WORK,list", "WORK,list --state ready", "WORK,actions",
        "TIMERS,failed", "TIMERS,list", "TIMERS,list --state ready", "TIMERS,actions",
        "RUNS,failed", "RUNS,list", "RUNS,list --state ready", "RUNS,actions"
    })
    void theLineBelowAFullPageIsTheCommandForTheNext(Kind kind, String list) {
        for (int i = 0; i < 3; i++) {
            failed(kind, "a", "no");
            done(kind, "pause", "topic " + i);
        }
        ready(kind, "a");
        ready(kind, "b");
        ready(kind, "a");
        List<String> whole =
                done(kind, and(list.split(" ", -1), "--json")).lines().toList();
        assertThat(whole).hasSizeGreaterThan(2);
        List<String> seen = new ArrayList<>();
        String[] next = words(kind, and(list.split(" ", -1), "--json", "--limit", "2"));
        while (next.length > 0) {
            Ran ran = Ran.windlass(next);
            assertThat(ran.exitCode()).as(ran.err()).isZero();
            seen.addAll(ran.out().lines().toList());
            assertThat(ran.err()).doesNotContain("secret");
            next = ran.err().isEmpty()
                    ? new String[0]
                    : ran.err()
                            .strip()
                            .replace("next page: windlass ", "")
                            .replace("'", "")
                            .split(" ", -1);
        }
        assertThat(seen).isEqualTo(whole);
    }

    @ParameterizedTest
    @EnumSource
    void requeueTakesNamesOrAFilterOrAll(Kind kind) {
        String first = failed(kind, "a", "no");
        String second = failed(kind, "b", "no");
        assertThat(done(kind, "requeue", "--all", "--dry-run")).isEqualTo("would requeue 2 failed " + kind.noun + "s");
        assertThat(done(kind, and(verb(kind, "requeue", first, NOBODY), "--dry-run")))
                .isEqualTo("would requeue 1 failed " + kind.noun);
        assertThat(status(kind, first)).contains(WorkStatus.FAILED);
        assertThat(done(kind, and(verb(kind, "requeue", first, NOBODY), "--as", "anna")))
                .startsWith("requeued 1 of 2 " + kind.noun + "s; the rest is unknown, not failed,")
                .contains("windlass " + kind.word + " show ");
        assertThat(status(kind, first)).contains(WorkStatus.READY);
        assertThat(operator(kind).actions(1)).extracting(OperatorAction::by).containsExactly("anna");
        assertThat(done(kind, "requeue", "--topic", "a")).isEqualTo("requeued 0 failed " + kind.noun + "s");
        assertThat(done(kind, "requeue", "--topic", "b")).isEqualTo("requeued 1 failed " + kind.noun);
        assertThat(status(kind, second)).contains(WorkStatus.READY);
        Ran none = run(kind, verb(kind, "requeue", second));
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err())
                .startsWith("windlass: requeued none of 1 " + kind.noun + ": each is unknown, not failed")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @EnumSource
    void purgeAsksUnlessEachIsNamed(Kind kind) {
        String first = failed(kind, "a", "no");
        String second = failed(kind, "b", "no");
        assertThat(done(kind, verb(kind, "purge", first))).isEqualTo("purged 1 " + kind.noun);
        assertThat(status(kind, first)).isEmpty();
        assertThat(run(kind, "purge", "--all").exitCode()).isEqualTo(2);
        assertThat(Ran.answering(() -> false, words(kind, "purge", "--all")).err())
                .contains("nothing was purged");
        assertThat(status(kind, second)).contains(WorkStatus.FAILED);
        assertThat(done(kind, "purge", "--error", "no", "--dry-run")).isEqualTo("would purge 1 failed " + kind.noun);
        assertThat(done(kind, "purge", "--all", "--yes")).isEqualTo("purged 1 failed " + kind.noun);
        assertThat(status(kind, second)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "WORK")
    void cancelEndsWhatNobodyHasClaimed(Kind kind) {
        String begun = ready(kind, "a");
        claimed(kind);
        String ready = ready(kind, "a");
        assertThat(done(kind, verb(kind, "cancel", ready, begun, ready)))
                .startsWith("cancelled 1 of 2 " + kind.noun + "s; the rest is unknown, ");
        assertThat(status(kind, ready).orElse(WorkStatus.CANCELLED)).isEqualTo(WorkStatus.CANCELLED);
        assertThat(status(kind, begun)).contains(WorkStatus.IN_PROGRESS);
        Ran none = run(kind, verb(kind, "cancel", begun));
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err())
                .startsWith("windlass: cancelled none of 1 " + kind.noun)
                .hasLineCount(1);
    }

    @ParameterizedTest
    @EnumSource
    void rescheduleMovesWhatNobodyHasClaimed(Kind kind) {
        String first = ready(kind, "a");
        String second = ready(kind, "a");
        assertThat(done(kind, and(verb(kind, "reschedule", first), "--at", "2999-01-01T00:00:00Z")))
                .isEqualTo("rescheduled 1 " + kind.noun + System.lineSeparator() + "due at 2999-01-01T00:00:00Z");
        claimed(kind);
        assertThat(status(kind, first)).contains(WorkStatus.READY);
        assertThat(status(kind, second)).contains(WorkStatus.IN_PROGRESS);
        assertThat(done(kind, and(verb(kind, "reschedule", first, second), "--in", "2h")))
                .startsWith("rescheduled 1 of 2 " + kind.noun + "s");
        assertThat(run(kind, and(verb(kind, "reschedule", NOBODY), "--in", "2h"))
                        .exitCode())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void eraseTakesThePayloadOfWhatHasEndedAfterAYes(Kind kind) {
        String failed = failed(kind, "a", "no");
        String ready = ready(kind, "a");
        assertThat(run(kind, verb(kind, "erase", failed)).exitCode()).isEqualTo(2);
        assertThat(Ran.answering(() -> false, words(kind, verb(kind, "erase", failed)))
                        .err())
                .contains("nothing was erased");
        assertThat(done(kind, and(verb(kind, "erase", failed, ready), "--yes", "--as", "anna")))
                .startsWith("erased 1 of 2 " + kind.noun + "s; the rest is unknown, not ended (cancel it first)");
        assertThat(operator(kind).actions(1))
                .extracting(action -> action.by() + " " + action.verb())
                .containsExactly("anna erase");
        assertThat(run(kind, verb(kind, "requeue", failed)).exitCode()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void aPausedTopicIsNotClaimedUntilItIsResumed(Kind kind) {
        String id = ready(kind, "a");
        Ran paused = run(kind, "pause", "a", "--reason", "the provider is down", "--as", "anna");
        assertThat(paused.out().strip()).isEqualTo("paused " + kind.topic + " a");
        assertThat(paused.err().contains("'windlass outbox pause a'"))
                .as("who would think that nodes heed it")
                .isEqualTo(kind.isHandedOff());
        assertThat(paused.err()).doesNotContain("misspelt");
        assertThat(run(kind, "pause", "misspelt").err())
                .contains(
                        "of " + kind.topic + " misspelt is there now", "'windlass " + kind.word + " resume misspelt'");
        assertThat(done(kind, "resume", "misspelt")).isEqualTo("resumed " + kind.topic + " misspelt");
        assertThat(done(kind, "resume", "misspelt")).contains("'windlass " + kind.word + " paused'");
        claimed(kind);
        assertThat(status(kind, id)).contains(WorkStatus.READY);
        assertThat(done(kind, "paused")).containsPattern("a +\\S+Z +anna +the provider is down");
        assertThat(done(kind, "paused", "--json").lines()).hasSize(1);
        assertThat(done(kind, "pause", "a")).startsWith(kind.topic + " a was paused already, since ");
        assertThat(done(kind, "resume", "a")).isEqualTo("resumed " + kind.topic + " a");
        claimed(kind);
        assertThat(status(kind, id)).contains(WorkStatus.IN_PROGRESS);
    }

    @ParameterizedTest
    @EnumSource
    void aLimitHoldsForAllUntilItIsLifted(Kind kind) {
        String first = ready(kind, "a");
        Ran limited = run(kind, "limit", "a", "--running", "1", "--rate", "100/m", "--as", "anna");
        assertThat(limited.out().strip()).isEqualTo("limited " + kind.topic + " a: 1 running, 100 per 1 min");
        assertThat(limited.err().contains("'windlass outbox limit a'"))
                .as("who would think that nodes heed it")
                .isEqualTo(kind.isHandedOff());
        assertThat(limited.err()).doesNotContain("misspelt");
        assertThat(operator(kind).actions(1)).extracting(OperatorAction::by).containsExactly("anna");
        assertThat(done(kind, "limit", "a", "--running", "1", "--rate", "100/60s"))
                .isEqualTo(kind.topic + " a was limited like this already: 1 running, 100 per 1 min");
        assertThat(run(kind, "limit", "misspelt", "--rate", "5/2h").err())
                .contains(
                        "of " + kind.topic + " misspelt is there now",
                        "'windlass " + kind.word + " limit misspelt --none'");

        assertThat(done(kind, "limits"))
                .containsPattern(
                        kind.topic.toUpperCase(Locale.ROOT) + " +RUNNING +PER KEY +RATE\\Ra +1 +- +100 per 1 min")
                .containsPattern("misspelt +- +- +5 per 2 h");
        assertThat(done(kind, "limits", "--json").lines())
                .contains("{\"topic\":\"a\",\"running\":1,\"perKey\":null,\"rate\":100,\"period\":\"PT1M\"}");
        assertThat(done(kind, "limit", "misspelt", "--none"))
                .isEqualTo("lifted the limits of " + kind.topic + " misspelt");
        assertThat(done(kind, "limit", "misspelt", "--none")).contains("'windlass " + kind.word + " limits'");

        claimed(kind);
        String second = ready(kind, "a");
        claimed(kind);
        assertThat(status(kind, first)).contains(WorkStatus.IN_PROGRESS);
        assertThat(status(kind, second)).contains(WorkStatus.READY);
        done(kind, "limit", "a", "--none");
        assertThat(done(kind, "limits")).isEqualTo("no limited " + kind.topic + "s");
        claimed(kind);
        assertThat(status(kind, second)).contains(WorkStatus.IN_PROGRESS);
    }

    @ParameterizedTest
    @EnumSource
    void actionsTellWhoDidWhatToHowMany(Kind kind) {
        assertThat(done(kind, "actions")).isEqualTo("no actions");
        failed(kind, "a", "no");
        done(kind, "requeue", "--topic", "a", "--as", "an\u001bna");
        assertThat(done(kind, "actions").lines().skip(1))
                .singleElement()
                .satisfies(line -> assertThat(line).containsPattern(" an na +requeue +1 +.*topic a"));
        for (Kind other : Kind.values()) {
            assertThat(operator(other).actions(10)).hasSize(other == kind ? 1 : 0);
        }
    }
}
