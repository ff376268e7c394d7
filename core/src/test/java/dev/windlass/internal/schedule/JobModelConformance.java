package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.OnEveryEngine;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WorkStatus;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Overlap;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.schedule.UnfinishedRunException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is done to jobs and runs in whatever order, they are as a few lines of Java say. */
@OnEveryEngine
final class JobModelConformance extends JobsConformance {
    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final Duration LEASE = Duration.ofMinutes(5);

    private static final class Known {
        Job job;
        boolean paused;
        long skipped;

        Known(Job job) {
            this.job = job;
        }
    }

    private final Map<String, Known> known = new TreeMap<>();
    private final Map<JobRunIdentifier, String> runs = new LinkedHashMap<>();
    private final Map<JobRunIdentifier, String> payloads = new LinkedHashMap<>();
    private final Map<JobRunIdentifier, WorkStatus> status = new LinkedHashMap<>();
    private final Map<JobRunIdentifier, OwnerToken> owners = new LinkedHashMap<>();
    private Random random = new Random();

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void jobsAndRunsAreAsTheModelSays(int seed) throws SQLException {
        random = new Random(seed);
        jobs = passive(ScheduleOptions.defaults().withHandOff(false)).jobs();
        for (int step = 0; step < 500; step++) {
            String name = NAMES.get(random.nextInt(NAMES.size()));
            String what = step(name, known.get(name));
            compare("step " + step + " of seed " + seed + ": " + what + " " + name);
        }
        assertThat(status.values()).contains(WorkStatus.DONE, WorkStatus.FAILED, WorkStatus.CANCELLED);
    }

    private String step(String name, @Nullable Known job) throws SQLException {
        return switch (random.nextInt(9)) {
            case 0, 1 -> save(name, job);
            case 2 -> job == null || random.nextInt(3) > 0 ? "nothing" : delete(name);
            case 3 -> job == null ? "nothing" : pauseOrResume(name, job);
            case 4, 5 -> job == null ? "nothing" : trigger(name, job);
            case 6 -> claim();
            case 7 -> end();
            default -> job == null || job.paused ? "nothing" : tick(name, job);
        };
    }

    private String save(String name, @Nullable Known job) {
        Job saved = rare(name)
                .withPayload("p" + random.nextInt(3))
                .withOverlap(random.nextBoolean() ? Overlap.SKIP : Overlap.ALLOW);
        jobs.save(saved);
        if (job == null) {
            known.put(name, new Known(saved));
        } else {
            job.job = saved;
        }
        return "save";
    }

    private String delete(String name) {
        jobs.delete(name);
        known.remove(name);
        runs.forEach((id, of) -> {
            if (of.equals(name) && status.get(id) == WorkStatus.READY) {
                status.put(id, WorkStatus.CANCELLED);
            }
        });
        return "delete";
    }

    private String pauseOrResume(String name, Known job) {
        boolean pause = random.nextBoolean();
        boolean changed = pause ? jobs.pause(name) : jobs.resume(name);
        assertThat(changed).isEqualTo(job.paused != pause);
        job.paused = pause;
        return pause ? "pause" : "resume";
    }

    private boolean unfinished(String name) {
        return runs.entrySet().stream()
                .anyMatch(run -> run.getValue().equals(name)
                        && List.of(WorkStatus.READY, WorkStatus.IN_PROGRESS).contains(status.get(run.getKey())));
    }

    private boolean refuses(String name, Known job) {
        return job.job.overlap() == Overlap.SKIP && unfinished(name);
    }

    private String trigger(String name, Known job) {
        boolean refuses = refuses(name, job);
        try {
            made(jobs.trigger(name).id(), name);
            assertThat(refuses).isFalse();
            return "trigger";
        } catch (UnfinishedRunException e) {
            assertThat(refuses).isTrue();
            return "refused trigger of";
        }
    }

    private void made(JobRunIdentifier id, String name) {
        runs.put(id, name);
        payloads.put(id, Objects.requireNonNull(known.get(name)).job.payload());
        status.put(id, WorkStatus.READY);
    }

    private String claim() {
        OwnerToken owner = OwnerToken.fresh();
        List<JobRunIdentifier> ready = runs.keySet().stream()
                .filter(id -> status.get(id) == WorkStatus.READY)
                .limit(2)
                .toList();
        List<ClaimedJobRun> claimed = jobs.runClaims().claim(owner, LEASE, 2);
        assertThat(claimed).extracting(ClaimedJobRun::id).containsExactlyInAnyOrderElementsOf(ready);
        for (ClaimedJobRun run : claimed) {
            assertThat(run.payload()).isEqualTo(payloads.get(run.id()));
            status.put(run.id(), WorkStatus.IN_PROGRESS);
            owners.put(run.id(), owner);
        }
        return "claim besides";
    }

    private String end() {
        for (Map.Entry<JobRunIdentifier, OwnerToken> held : List.copyOf(owners.entrySet())) {
            boolean ok = random.nextBoolean();
            List<JobRunIdentifier> id = List.of(held.getKey());
            assertThat(
                            ok
                                    ? jobs.runClaims().ack(held.getValue(), id)
                                    : jobs.runClaims().fail(held.getValue(), id, "broken"))
                    .isEqualTo(1);
            status.put(held.getKey(), ok ? WorkStatus.DONE : WorkStatus.FAILED);
        }
        owners.clear();
        return "end besides";
    }

    /** As a node does it, with a tick that is missed at this moment. */
    private String tick(String name, Known job) throws SQLException {
        JobStore store = new JobStore(database().routines(), "outbox");
        Instant now = database().now();
        database().update("update %s.outbox_job set next_tick_at = ?, fires_at = ? where name = ?", now, now, name);
        List<JobStore.Firing> due = database()
                .routines()
                .once(connection -> store.due(connection, 10))
                .jobs();
        assertThat(due).extracting(JobStore.Firing::name).containsExactly(name);
        Instant far = due.get(0).tick().plus(Duration.ofDays(100));
        List<JobStore.Planned> planned = List.of(
                new JobStore.Planned(due.get(0), new JobPlan(List.of(due.get(0).tick()), 0, far), far));
        UUID id = UUID.randomUUID();
        boolean refuses = refuses(name, job);
        database().routines().once(connection -> store.take(connection, planned, List.of(id), false));
        if (refuses) {
            job.skipped++;
        } else {
            made(new JobRunIdentifier(id), name);
        }
        return refuses ? "skipped tick of" : "tick of";
    }

    private void compare(String after) {
        List<String> stored = new ArrayList<>();
        for (JobState state : jobs.list()) {
            Known job = Objects.requireNonNull(known.get(state.name()), after);
            stored.add(state.name());
            assertThat(state.job()).as(after).isEqualTo(job.job);
            assertThat(state.isPaused()).as(after).isEqualTo(job.paused);
            assertThat(state.skippedTicks()).as(after).isEqualTo(job.skipped);
        }
        assertThat(stored).as(after).isEqualTo(List.copyOf(known.keySet()));
        Map<JobRunIdentifier, WorkStatus> found = new LinkedHashMap<>();
        NAMES.forEach(name -> jobs.runs(name, 1000).forEach(run -> found.put(run.id(), run.status())));
        assertThat(found).as(after).isEqualTo(status);
    }
}
