package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.OwnerToken;
import dev.windlass.cron.CronSyntaxException;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.JobSet;
import dev.windlass.schedule.Misfire;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.Schedule;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bad arguments are refused with what was expected and what came, and nothing is written. */
@OnEveryEngine
final class BadJobArgumentsConformance extends JobsConformance {
    private static final Job GOOD = rare("job");
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final JobRunIdentifier ID = new JobRunIdentifier(new UUID(1, 1));

    @AfterEach
    void nothingWasWritten() {
        assertThat(jobs.list()).isEmpty();
        assertThat(runs("1 = 1")).isZero();
    }

    static Stream<Arguments> badJobs() {
        return Stream.of(
                bad(() -> Job.cron(nothing(), RARE, UTC), "expected a job name, got null"),
                bad(() -> Job.cron(" \t", RARE, UTC), "expected a job name, got blank text"),
                bad(
                        () -> Job.cron("j".repeat(256), RARE, UTC),
                        "expected a job name of at most 255 characters, got 256"),
                bad(() -> Job.every("a\0", LEASE), "expected a job name without NUL characters"),
                bad(() -> Job.every("\uD83D", LEASE), "expected a job name of well-formed Unicode"),
                bad(() -> Job.cron("job", nothing(), UTC), "expected a cron expression, got null"),
                bad(() -> Job.cron("job", " ", UTC), "expected a cron expression, got blank text"),
                bad(
                        () -> Job.cron("job", "0 0 1 1 " + "1,".repeat(150) + "1", UTC),
                        "expected a cron expression of at most 255 characters"),
                bad(() -> Job.cron("job", "0 25 * * *", UTC), "hour: "),
                bad(() -> Job.cron("job", "0 0 30 2 *", UTC), "30"),
                bad(() -> Job.cron("job", RARE, nothing()), "expected a time zone, got null"),
                bad(() -> Job.every("job", nothing()), "expected a positive period, got null"),
                bad(() -> Job.every("job", Duration.ZERO), "expected a positive period, got PT0S"),
                bad(() -> Job.every("job", Duration.ofSeconds(-1)), "expected a positive period, got PT-1S"),
                bad(
                        () -> Job.every("job", Duration.ofMillis(999)),
                        "expected a period of at least one second, got PT0.999S"),
                bad(
                        () -> Job.every("job", Duration.ofSeconds(1, 1000)),
                        "expected a period of whole milliseconds, got PT1.000001S"),
                bad(() -> Job.every("job", Duration.ofDays(36_501)), "expected a period of at most 100 years"),
                bad(() -> GOOD.withTopic(nothing()), "expected a topic, got null"),
                bad(() -> GOOD.withTopic(""), "expected a topic, got blank text"),
                bad(() -> GOOD.withTopic("t".repeat(256)), "expected a topic of at most 255 characters, got 256"),
                bad(() -> GOOD.withPayload(nothing()), "expected a payload, got null"),
                bad(() -> GOOD.withPayload("\0"), "expected a payload without NUL characters"),
                bad(() -> GOOD.withPayload("\uDE00"), "expected a payload of well-formed Unicode"),
                bad(() -> GOOD.withMisfire(nothing()), "expected a rule for misfires, got null"),
                bad(() -> Misfire.all(0), "expected a positive number of runs, got 0"),
                bad(() -> Misfire.all(10_001), "expected at most 10000 runs for missed ticks, got 10001"),
                bad(() -> Misfire.skip(nothing()), "expected a positive tolerated lateness, got null"),
                bad(() -> Misfire.skip(Duration.ZERO), "expected a positive tolerated lateness, got PT0S"),
                bad(() -> Misfire.skip(Duration.ofNanos(1)), "tolerated lateness of whole milliseconds"),
                bad(() -> GOOD.withOverlap(nothing()), "expected a rule for overlaps, got null"),
                bad(() -> GOOD.withOverlap(Overlap.DELAY), "to have a period, which Overlap.DELAY counts from the end"),
                bad(() -> GOOD.withJitter(nothing()), "expected a jitter of zero or more, got null"),
                bad(() -> GOOD.withJitter(Duration.ofMillis(-1)), "expected a jitter of zero or more, got PT-0.001S"),
                bad(() -> GOOD.withJitter(Duration.ofNanos(1)), "expected a jitter of whole milliseconds"),
                bad(
                        () -> GOOD.withJitter(Duration.ofDays(1).plusMillis(1)),
                        "expected a jitter of at most a day, got PT24H0.001S"),
                bad(() -> new JobRunIdentifier(nothing()), "expected a run identifier, got null"));
    }

    @ParameterizedTest
    @MethodSource("badJobs")
    void aJobRefusesWhatCannotBeStored(ThrowingCallable making, String message) {
        refused(making, message);
    }

    @Test
    void aWrongCronExpressionSaysWhichFieldIsWrong() {
        assertThatThrownBy(() -> Job.cron("job", "0 25 * * *", UTC))
                .isInstanceOfSatisfying(
                        CronSyntaxException.class, e -> assertThat(e.field()).contains("hour"));
    }

    @Test
    void aJobIsShownWithoutItsPayload() {
        assertThat(GOOD.withPayload("secret").toString())
                .contains("job", RARE, "UTC", "topic")
                .doesNotContain("secret");
        assertThat(JobSet.of("set", 1).with(GOOD.withPayload("secret")).toString())
                .doesNotContain("secret");
    }

    @Test
    void savingNeedsACompleteJob() throws SQLException {
        Job unreadable =
                new Job("job", new Schedule.Unreadable("x", "y", "z"), "t", "", Misfire.once(), Overlap.ALLOW, LEASE);
        try (Connection connection = database().connect()) {
            Stream.<Consumer<Job>>of(jobs::save, job -> jobs.save(connection, job), JobSet.of("set", 1)::with)
                    .forEach(saving -> {
                        refused(
                                () -> saving.accept(Job.every("nightly", LEASE)),
                                "expected job \"nightly\" to have a topic, got none");
                        refused(() -> saving.accept(unreadable), "to have readable times, got x in y: z");
                    });
            refused(() -> jobs.save(nothing()), "expected a job, got null");
            refused(() -> jobs.save(connection, nothing()), "expected a job, got null");
            refused(() -> jobs.save(nothing(), GOOD), "expected a connection, got null");
        }
    }

    @Test
    void namesAreChecked() throws SQLException {
        try (Connection connection = database().connect()) {
            List<Consumer<String>> calls = List.of(
                    jobs::delete,
                    name -> jobs.delete(connection, name),
                    jobs::trigger,
                    name -> jobs.trigger(connection, name),
                    jobs::pause,
                    jobs::resume,
                    jobs::find,
                    name -> jobs.runs(name, 1));
            for (Consumer<String> call : calls) {
                refused(() -> call.accept(nothing()), "expected a job name, got null");
                refused(() -> call.accept(" "), "expected a job name, got blank text");
                refused(() -> call.accept("j".repeat(256)), "expected a job name of at most 255 characters, got 256");
                refused(() -> call.accept("a\0"), "expected a job name without NUL characters");
            }
        }
        refused(() -> jobs.delete(nothing(), "job"), "expected a connection, got null");
        refused(() -> jobs.trigger(nothing(), "job"), "expected a connection, got null");
        refused(() -> jobs.runs("job", 0), "expected a positive limit, got 0");
        refused(() -> jobs.findRun(nothing()), "expected a run identifier, got null");
    }

    @Test
    void claimsAndTheirEndsAreChecked() {
        OwnerToken owner = OwnerToken.fresh();
        List<JobRunIdentifier> ids = List.of(ID);
        refused(() -> jobs.runClaims().claim(nothing(), LEASE, 1), "expected an owner token, got null");
        refused(() -> jobs.runClaims().claim(owner, nothing(), 1), "expected a positive lease, got null");
        refused(() -> jobs.runClaims().claim(owner, Duration.ZERO, 1), "expected a positive lease, got PT0S");
        refused(() -> jobs.runClaims().claim(owner, LEASE, 0), "expected a positive batch size, got 0");
        refused(() -> jobs.runClaims().ack(nothing(), ids), "expected an owner token, got null");
        refused(() -> jobs.runClaims().abandon(nothing(), ids), "expected an owner token, got null");
        refused(() -> jobs.runClaims().abandon(nothing(), ids, LEASE, ""), "expected an owner token, got null");
        refused(() -> jobs.runClaims().fail(nothing(), ids, ""), "expected an owner token, got null");
        for (List<JobRunIdentifier> bad :
                Arrays.<List<JobRunIdentifier>>asList(nothing(), Arrays.asList(ID, nothing()))) {
            refused(() -> jobs.runClaims().ack(owner, bad), "expected a collection of run identifiers, got");
            refused(() -> jobs.runClaims().abandon(owner, bad), "expected a collection of run identifiers, got");
            refused(
                    () -> jobs.runClaims().abandon(owner, bad, LEASE, ""),
                    "expected a collection of run identifiers, got");
            refused(() -> jobs.runClaims().fail(owner, bad, ""), "expected a collection of run identifiers, got");
        }
        refused(
                () -> jobs.runClaims().abandon(owner, ids, nothing(), ""),
                "expected a delay of zero or more, got null");
        refused(() -> jobs.runClaims().abandon(owner, ids, LEASE, nothing()), "expected an error text, got null");
        refused(() -> jobs.runClaims().fail(owner, ids, nothing()), "expected an error text, got null");
        refused(() -> jobs.runClaims().fail(owner, ids, "\0"), "expected an error text without NUL characters");
    }

    @Test
    void setsAreChecked() {
        refused(() -> JobSet.of(nothing(), 1), "expected a name of the set of jobs, got null");
        refused(() -> JobSet.of("", 1), "expected a name of the set of jobs, got blank text");
        refused(() -> JobSet.of("s".repeat(256), 1), "of at most 255 characters, got 256");
        refused(() -> JobSet.of("set", -1), "expected a revision of zero or more, got -1");
        refused(() -> JobSet.of("set", 1).with(GOOD, GOOD), "different names in set \"set\", got two with \"job\"");
        refused(() -> JobSet.of("set", 1).with(GOOD, nothing()), "expected a collection of jobs, got one with a null");
        refused(() -> JobSet.of("set", 1).with((Job[]) nothing()), "expected a list of jobs, got null");
        WindlassBuilder builder = database().windlass().jobs(JobSet.of("set", 1));
        refused(() -> builder.jobs(nothing()), "expected a set of jobs, got null");
        refused(() -> builder.jobs(JobSet.of("set", 2)), "sets of jobs with different names, got two with \"set\"");
    }

    @Test
    void everyZoneThatJavaKnowsIsTaken() {
        assertThat(ZoneId.getAvailableZoneIds()).allSatisfy(id -> Job.cron("job", RARE, ZoneId.of(id)));
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    private static Arguments bad(ThrowingCallable making, String message) {
        return Arguments.of(making, message);
    }

    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T nothing() {
        return null;
    }
}
