package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.operator.OperatorAction;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.testkit.WindlassExtension;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JobsCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();
    private static final String NOBODY = "0197c3a2-8f10-7abc-9def-0123456789ab";
    private static final Job NIGHTLY =
            Job.cron("nightly", "0 2 * * *", ZoneId.of("Europe/Berlin")).withTopic("report.run");
    private static final Job OFTEN = Job.every("often", Duration.ofMinutes(5)).withTopic("poll");

    private final Windlass windlass = passive().start();
    private final Jobs jobs = windlass.jobs();

    private static WindlassBuilder passive() {
        return database.windlass().options(database.options().withBackgroundWorkers(false));
    }

    @AfterEach
    void close() {
        windlass.close();
    }

    private static Ran jobs(String... arguments) {
        return Ran.windlass(words(arguments));
    }

    private static Ran answering(BooleanSupplier answer, String... arguments) {
        return Ran.answering(answer, words(arguments));
    }

    private static String[] words(String... arguments) {
        List<String> all = new ArrayList<>(List.of("jobs"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", "postgres", "--schema", database.schema()));
        return all.toArray(String[]::new);
    }

    private static void sql(String sql) throws SQLException {
        Sql.execute(database, sql);
    }

    private JobRun doneRun(String name) {
        JobRun run = jobs.trigger(name);
        OwnerToken owner = OwnerToken.fresh();
        windlass.outbox().ack(owner, List.of(claim(owner).id()));
        return run;
    }

    private JobRun failedRun(String name, String error) {
        JobRun run = jobs.trigger(name);
        OwnerToken owner = OwnerToken.fresh();
        windlass.outbox().abandon(owner, List.of(claim(owner).id()), Duration.ZERO, "once");
        windlass.outbox().fail(owner, List.of(claim(owner).id()), error);
        return run;
    }

    private OutboxMessage claim(OwnerToken owner) {
        return windlass.outbox().claim(owner, Duration.ofMinutes(1), 1).get(0);
    }

    private static String text(JobRun run) {
        return run.id().value().toString();
    }

    @Test
    void listShowsWhenJobsRunAndRanAndWhatIsWrong() throws SQLException {
        jobs.save(NIGHTLY);
        jobs.save(OFTEN);
        jobs.save(NIGHTLY.withTopic("other").withPayload("secret"));
        doneRun("nightly");
        jobs.pause("often");
        sql("update %s.outbox_job set skipped_ticks = 3, problem = E'cannot\\nbe' where name = 'often'");
        Ran ran = jobs("list");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("NAME +SCHEDULE +ZONE +NEXT DUE +LAST RUN +SKIPPED +PROBLEM"),
                        nightly -> assertThat(nightly)
                                .matches("nightly +0 2 \\* \\* \\* \\(every day at 02:00\\) +Europe/Berlin +"
                                        + "\\S+Z \\(in .*\\) +done \\S+Z +0 +-"),
                        often -> assertThat(often).matches("often +every 5 min +- +paused +- +3 +cannot be"));
        assertThat(ran.out()).doesNotContain("secret");
    }

    @Test
    void listSaysWhenThereAreNone() {
        assertThat(jobs("list").out().strip()).isEqualTo("no jobs");
        assertThat(jobs("list", "--json").out()).isEmpty();
    }

    @Test
    void aJobWhoseTimesNobodyUnderstandsIsListedWithTheReason() throws SQLException {
        jobs.save(NIGHTLY);
        sql("update %s.outbox_job set cron = '0 25 * * *'");
        assertThat(jobs("list").out()).containsPattern("nightly +0 25 \\* \\* \\* +Europe/Berlin .*25");
        assertThat(jobs("show", "nightly").out())
                .containsPattern("schedule +0 25 \\* \\* \\*\\R")
                .containsPattern("problem\\R +.*25");
        jobs.pause("nightly");
        Ran resume = jobs("resume", "nightly");
        assertThat(resume.exitCode()).isEqualTo(1);
        assertThat(resume.err())
                .startsWith("windlass: expected a job whose times can be read, but job nightly has 0 25 * * * in ")
                .hasLineCount(1);
        JsonNode json = Json.read(jobs("list", "--json").out());
        assertThat(json.get("cron").asText()).isEqualTo("0 25 * * *");
        assertThat(json.get("description").isNull()).isTrue();
        assertThat(json.get("problem").asText()).contains("25");
    }

    @Test
    void jsonHasOneObjectForEach() {
        jobs.save(NIGHTLY.withMisfire(Misfire.skip()).withOverlap(Overlap.SKIP));
        jobs.save(OFTEN.withMisfire(Misfire.all(7)).withJitter(Duration.ofSeconds(30)));
        JobRun run = failedRun("often", "say \"no\"\n");
        Ran ran = jobs("list", "--json");
        assertThat(ran.out()).hasLineCount(2);
        List<JsonNode> found = ran.out().lines().map(Json::read).toList();
        JsonNode nightly = found.get(0);
        assertThat(nightly.get("cron").asText()).isEqualTo("0 2 * * *");
        assertThat(nightly.get("description").asText()).isEqualTo("every day at 02:00");
        assertThat(nightly.get("zone").asText()).isEqualTo("Europe/Berlin");
        assertThat(nightly.get("misfire").asText()).isEqualTo("SKIP");
        assertThat(nightly.get("misfireAfter").asText()).isEqualTo("PT1M");
        assertThat(nightly.get("overlap").asText()).isEqualTo("SKIP");
        assertThat(nightly.get("lastRun").isNull()).isTrue();
        assertThat(nightly.get("pausedAt").isNull()).isTrue();
        JsonNode often = found.get(1);
        assertThat(often.get("period").asText()).isEqualTo("PT5M");
        assertThat(often.get("zone").isNull()).isTrue();
        assertThat(often.get("misfire").asText()).isEqualTo("ALL");
        assertThat(often.get("misfireRuns").asInt()).isEqualTo(7);
        assertThat(often.get("jitter").asText()).isEqualTo("PT30S");
        assertThat(often.at("/lastRun/id").asText()).isEqualTo(text(run));
        assertThat(often.at("/lastRun/lastError").asText()).isEqualTo("say \"no\"\n");
    }

    @Test
    void showTellsAllButThePayloadUnlessAsked() {
        jobs.save(NIGHTLY.withPayload("my\npayload")
                .withMisfire(Misfire.all(1000))
                .withOverlap(Overlap.SKIP)
                .withJitter(Duration.ofMillis(90_500)));
        JobRun run = failedRun("nightly", "first\nsecond");
        Ran ran = jobs("show", "nightly");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out())
                .containsPattern("name +nightly")
                .containsPattern("schedule +0 2 \\* \\* \\* \\(every day at 02:00\\)")
                .containsPattern("zone +Europe/Berlin")
                .containsPattern("topic +report.run")
                .containsPattern("next tick +\\S+Z \\(in .*\\), there \\S+T02:00\\R")
                .containsPattern("jitter +up to 1 min 30.5 s")
                .containsPattern("misfires +a run for each missed tick, for the latest 1,000 at most")
                .containsPattern("overlaps +ticks are skipped")
                .containsPattern("skipped ticks +0")
                .containsPattern("last run +" + text(run))
                .containsPattern(" status +failed")
                .containsPattern(" tick +\\S+Z \\(triggered\\)")
                .containsPattern(" took +\\d+ ")
                .containsPattern(" attempts +2")
                .containsPattern(" last error\\R +first\\R +second")
                .doesNotContain("problem")
                .doesNotContain("paused")
                .doesNotContain("payload");
        assertThat(jobs("show", "nightly", "--payload").out()).containsPattern("payload\\R +my\\R +payload");
        assertThat(jobs("show", "nightly", "--json").out()).doesNotContain("payload");
        assertThat(Json.read(jobs("show", "nightly", "--json", "--payload").out())
                        .get("payload")
                        .asText())
                .isEqualTo("my\npayload");
    }

    @Test
    void runsTellWhatBecameOfEachTheLatestFirst() throws SQLException {
        jobs.save(OFTEN);
        JobRun failed = failedRun("often", "no\nway");
        sql("update %s.outbox_job_run set triggered = false");
        JobRun succeeded = doneRun("often");
        JobRun ready = jobs.trigger("often");
        Ran ran = jobs("runs", "often");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("ID +TICK +STARTED +TOOK +OUTCOME +ATTEMPTS +ERROR"),
                        third -> assertThat(third).matches(text(ready) + " +triggered +- +- +ready +0 +-"),
                        second -> assertThat(second)
                                .matches(text(succeeded) + " +triggered +\\S+Z +\\d+ \\S+ +done +1 +-"),
                        first -> assertThat(first)
                                .matches(text(failed) + " +\\S+Z +\\S+Z +\\d+ \\S+ +failed +2 +no way"));
        claim(OwnerToken.fresh());
        assertThat(jobs("runs", "often").out()).containsPattern("triggered +\\S+Z +\\d+ \\S+ +in progress +1 +-");
    }

    @Test
    void theLineBelowAFullPageOfRunsIsTheCommandForTheNextAlsoWhenItsLastRunIsGone() throws SQLException {
        jobs.save(OFTEN);
        JobRun first = jobs.trigger("often");
        JobRun second = jobs.trigger("often");
        List<String> lines = jobs("runs", "often", "--limit", "1").out().lines().toList();
        assertThat(lines.get(1)).startsWith(text(second));
        assertThat(lines.get(2))
                .startsWith("next page: windlass jobs runs --url ")
                .contains(" --schema " + database.schema() + " often --limit 1 --after ");
        sql("delete from %s.outbox_job_run where id = '" + text(second) + "'");
        String position = lines.get(2).replaceFirst(".* --after ", "");
        assertThat(jobs("runs", "often", "--after", position).out()).contains(text(first));
        Ran json = jobs("runs", "often", "--json", "--limit", "1");
        assertThat(Json.read(json.out()).get("id").asText()).isEqualTo(text(first));
        assertThat(json.err()).startsWith("next page: ");
    }

    @Test
    void runsOfADeletedJobAreStillListed() {
        jobs.save(OFTEN);
        assertThat(jobs("runs", "often").out().strip()).isEqualTo("no runs of job often");
        JobRun run = doneRun("often");
        jobs.delete("often");
        assertThat(jobs("runs", "often").out()).contains(text(run));
    }

    @Test
    void triggerMakesARunAndLeavesItsHandOffToTheNodes() {
        jobs.save(OFTEN);
        jobs.pause("often");
        Ran ran = jobs("trigger", "often");
        assertThat(ran.exitCode()).isZero();
        JobRun run = jobs.runs("often", 1).get(0);
        assertThat(ran.out().strip()).isEqualTo("triggered job often: run " + text(run));
        assertThat(run.status()).isEqualTo(WorkStatus.READY);
        assertThat(run.messageId()).isEmpty();
    }

    @Test
    void aNodeHandlesWhatWasTriggered() {
        jobs.save(OFTEN);
        try (Windlass node = Windlass.on(database.dataSource())
                .options(WindlassOptions.defaults().withSchemaName(database.schema()))
                .outboxHandler("poll", message -> {})
                .start()) {
            assertThat(jobs("trigger", "often").exitCode()).isZero();
            eventually().until(() -> node.jobs().runs("often", 1).get(0).status() == WorkStatus.DONE);
            assertThat(jobs("list").out()).containsPattern("often .* done \\S+Z");
        }
    }

    @Test
    void triggerRefusesAnOverlapThatTheJobDoesNotAllow() {
        jobs.save(OFTEN.withOverlap(Overlap.SKIP));
        JobRun run = jobs.trigger("often");
        Ran ran = jobs("trigger", "often");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.err())
                .startsWith("windlass: job often allows no overlap, and its run " + text(run) + " is unfinished")
                .contains("cancel it with 'windlass runs cancel " + text(run))
                .hasLineCount(1);
        assertThat(cancel(run).exitCode()).isZero();
        assertThat(jobs("trigger", "often").exitCode()).isZero();
    }

    @Test
    void aRunThatIsNoMessageYetIsNotSaidToBeOne() {
        jobs.save(OFTEN.withOverlap(Overlap.SKIP));
        jobs("trigger", "often");
        JobRun run = jobs.runs("often", 1).get(0);
        assertThat(jobs("trigger", "often").err())
                .contains("no node has taken it yet, is one running?", "'windlass runs cancel " + text(run));
        assertThat(cancel(run).err())
                .contains(
                        "expected a message, but " + text(run) + " is a run of job often that is none yet",
                        "'windlass runs show ");
    }

    private static Ran cancel(JobRun run) {
        String[] words = words(text(run));
        words[0] = "outbox";
        List<String> all = new ArrayList<>(List.of(words));
        all.add(1, "cancel");
        return Ran.windlass(all.toArray(String[]::new));
    }

    @Test
    void pauseAndResumeSayWhatWasBeforeAndWhatComesNext() {
        jobs.save(OFTEN);
        assertThat(jobs("resume", "often").out()).startsWith("job often was not paused; next due ");
        assertThat(jobs("pause", "often", "--as", "anna").out().strip()).isEqualTo("paused job often");
        OperatorAction action = jobs.operator("me").actions(1).get(0);
        assertThat(action.by() + " " + action.verb()).isEqualTo("anna pause job");
        assertThat(action.detail()).contains("often");
        assertThat(jobs("actions").out()).containsPattern(" anna +pause job +0 +job often");
        assertThat(jobs.find("often").orElseThrow().isPaused()).isTrue();
        assertThat(jobs("pause", "often").out()).matches("job often was paused already, since \\S+Z\\R");
        assertThat(jobs("show", "often").out())
                .containsPattern("paused since +\\S+Z")
                .doesNotContain("next tick");
        assertThat(jobs("resume", "often").out()).matches("resumed job often; next due \\S+Z \\(in .*\\)\\R");
        assertThat(jobs.find("often").orElseThrow().isPaused()).isFalse();
    }

    @Test
    void deleteAsksFirst() {
        jobs.save(OFTEN);
        Ran refused = jobs("delete", "often");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("expected --yes");
        Ran no = answering(() -> false, "delete", "often");
        assertThat(no.exitCode()).isEqualTo(1);
        assertThat(no.err()).contains("nothing was deleted");
        assertThat(jobs.find("often")).isPresent();
        assertThat(answering(() -> true, "delete", "often").out().strip()).isEqualTo("deleted job often");
        assertThat(jobs.find("often")).isEmpty();
        jobs.save(OFTEN);
        assertThat(jobs("delete", "often", "--yes").out().strip()).isEqualTo("deleted job often");
        assertThat(jobs.find("often")).isEmpty();
    }

    @Test
    void aJobOfASetIsShownAsOne() {
        try (Windlass program =
                passive().jobs(JobSet.of("billing", 1).with(OFTEN)).start()) {
            assertThat(program.isRunning()).isTrue();
            assertThat(jobs("show", "often").out()).containsPattern("set of jobs +billing");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"show", "runs", "trigger", "pause", "resume", "delete --yes"})
    void anUnknownJobIsAFailureThatSaysHowToListThoseThereAre(String command) {
        String[] words = (command + " nobody").split(" ", -1);
        Ran ran = jobs(words);
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err())
                .startsWith("windlass: expected the name of a job, got 'nobody'")
                .contains("'windlass jobs list'")
                .hasLineCount(1);
    }

    @Test
    void nobodyIsAskedAboutAJobThatIsNotThere() {
        Ran ran = answering(
                () -> {
                    throw new AssertionError("asked");
                },
                "delete",
                "nobody");
        assertThat(ran.err()).contains("'windlass jobs list'");
        assertThat(jobs("runs", "nobody", "--after", NOBODY).exitCode()).isEqualTo(2);
    }
}
