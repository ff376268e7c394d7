package dev.windlass.internal.schedule;

import dev.windlass.base.WindlassException;
import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.loop.Loop;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.PollingPace;
import dev.windlass.internal.schedule.JobStore.Done;
import dev.windlass.internal.schedule.JobStore.Due;
import dev.windlass.internal.schedule.JobStore.Firing;
import dev.windlass.internal.schedule.JobStore.Planned;
import dev.windlass.internal.schedule.JobStore.Taken;
import dev.windlass.internal.support.ErrorText;
import dev.windlass.internal.support.InWords;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.internal.support.TimeOrderedIds;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the runs of jobs that fire, and sleeps until the next one does; a change of a job wakes it.
 *
 * <p>All nodes do this. Each computes what is to become of the jobs that fire, and writes it only where the version is still the
 * one of which it was computed: who comes second finds the tick taken.
 */
final class JobTicker {
    private static final Logger log = LoggerFactory.getLogger(JobTicker.class);
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST_WHEN_BLOCKED = Duration.ofSeconds(1);
    private static final Duration LEFT_TO_OTHERS = Duration.ofMinutes(1);
    private static final Duration RETRY_UNREADABLE = Duration.ofMinutes(10);
    private static final int BATCH = 100;
    private static final int MOST_RUNS = 1000;

    private final Database database;
    private final JobStore store;
    private final JobRunStore runs;
    private final boolean handOff;
    private final Consumer<Collection<String>> handedOff;
    private final PollingPace pace;
    private final TimeOrderedIds ids = new TimeOrderedIds();
    private final Loop loop;
    /** Whether what is due is held by somebody else, in a transaction that has not ended. */
    private boolean blocked;

    /** How many jobs to look at. Grows while others hold all of these, who would else hide the jobs behind them. */
    private int batch = BATCH;

    /**
     * @param handOff whether runs become messages
     * @param handedOff gets the topics that have new messages
     */
    JobTicker(
            Database database,
            JobStore store,
            JobRunStore runs,
            boolean handOff,
            Consumer<Collection<String>> handedOff,
            Node node) {
        this.database = database;
        this.store = store;
        this.runs = runs;
        this.handOff = handOff;
        this.handedOff = handedOff;
        this.pace = new PollingPace(SHORTEST, node.lookout());
        this.loop = new Loop("[" + database.name() + "] making runs of jobs", node.workers(), this::tick);
    }

    void start() {
        loop.start(Loop.PARKED);
    }

    /** A look at all features has found that a job fires, or a run is ready, after this time. */
    void due(Duration time) {
        if (time.compareTo(Duration.ZERO) > 0) {
            loop.wakeWithin(time);
        } else {
            loop.wake();
        }
    }

    boolean isResting() {
        return pace.isResting();
    }

    /** A job has been changed, or a run made, in a transaction that is committed. */
    void wake() {
        loop.wake();
    }

    /** The same in one that may be committed soon. */
    void expect() {
        pace.expect();
        loop.wakeWithin(PollingPace.QUICK);
    }

    private Duration tick() throws SQLException {
        Due due = database.once(connection -> store.due(connection, batch));
        int lookedAt = 0;
        if (!due.jobs().isEmpty()) {
            lookedAt += fire(due);
        }
        boolean handOffRuns = handOff && due.runReady();
        if (handOffRuns) {
            lookedAt += report(database.once(connection -> runs.handOff(connection, BATCH)));
        }
        boolean idle = due.jobs().isEmpty() && !handOffRuns;
        return lookedAt > 0 || looksFurther(due) ? Duration.ZERO : pause(due, idle);
    }

    /** Asked when nothing could be done for any of these. */
    private boolean looksFurther(Due due) {
        boolean further = due.jobs().size() == batch;
        batch = further ? batch * 2 : due.jobs().isEmpty() ? BATCH : batch;
        return further;
    }

    private int fire(Due due) throws SQLException {
        List<Planned> planned = new ArrayList<>();
        int problems = 0;
        for (Firing job : due.jobs()) {
            try {
                planned.add(plan(job, due.now()));
            } catch (RuntimeException e) {
                problems += report(job, due.now(), e);
            }
        }
        return problems + (planned.isEmpty() ? 0 : take(planned));
    }

    private static Planned plan(Firing job, Instant now) {
        Duration offset = min(Duration.between(job.tick(), job.firesAt()), job.jitter());
        JobPlan plan = JobPlan.of(Ticks.of(job.schedule(), job.anchor()), job.misfire(), job.tick(), offset, now);
        return new Planned(job, plan, JobPlan.firesAt(plan.next(), JobDurations.partOf(job.jitter()), now));
    }

    /** Not at once: a newer program on another node may understand what this one does not. */
    private int report(Firing job, Instant now, RuntimeException e) throws SQLException {
        if (now.isBefore(job.firesAt().plus(LEFT_TO_OTHERS))) {
            return 0;
        }
        String problem = e instanceof WindlassException known
                ? ErrorText.bounded(String.valueOf(known.getMessage()))
                : ErrorText.of(e);
        boolean written = database.once(connection -> store.problem(connection, job, problem, RETRY_UNREADABLE));
        if (written) {
            log.warn(
                    "[{}] the ticks of job {} cannot be computed; trying again in {}",
                    database.name(),
                    job.name(),
                    InWords.of(RETRY_UNREADABLE),
                    e);
        }
        return written ? 1 : 0;
    }

    /** In portions: all that many jobs have missed in an outage, in one transaction, would outlast the patience of the call. */
    private int take(List<Planned> planned) throws SQLException {
        int lookedAt = 0;
        int from = 0;
        while (from < planned.size()) {
            int until = from + portion(planned.subList(from, planned.size()));
            lookedAt += takeAtOnce(planned.subList(from, until));
            from = until;
        }
        return lookedAt;
    }

    /** How many of these jobs make no more runs than one transaction is to write; at least one. */
    private static int portion(List<Planned> planned) {
        int runs = 0;
        int jobs = 0;
        for (Planned job : planned) {
            runs += job.plan().runs().size();
            if (jobs > 0 && runs > MOST_RUNS) {
                break;
            }
            jobs++;
        }
        return jobs;
    }

    private int takeAtOnce(List<Planned> planned) throws SQLException {
        List<UUID> made = new ArrayList<>();
        planned.forEach(job -> job.plan().runs().forEach(tick -> made.add(ids.next())));
        Taken taken = database.once(connection -> store.take(connection, planned, made, handOff));
        tell(planned, made, taken.runs());
        return report(taken.done());
    }

    private void tell(List<Planned> planned, List<UUID> ids, Set<UUID> runs) {
        Iterator<UUID> next = ids.iterator();
        for (Planned job : planned) {
            for (int i = 0; i < job.plan().runs().size(); i++) {
                UUID id = next.next();
                if (runs.contains(id)) {
                    database.events()
                            .tell(new WindlassEvent.JobRunCreated(
                                    database.store(), job.job().name(), id));
                }
            }
        }
    }

    private int report(Done done) {
        if (!done.topics().isEmpty()) {
            log.debug("[{}] runs of topics {} became messages", database.name(), done.topics());
            handedOff.accept(done.topics());
        }
        return done.lookedAt();
    }

    private Duration pause(Due due, boolean idle) {
        if (!idle && !blocked) {
            pace.expect();
        }
        blocked = !idle;
        Duration pause = min(pace.afterNothing(), due.nextDue().orElse(Loop.PARKED));
        return blocked ? min(pause, LONGEST_WHEN_BLOCKED) : pause;
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    Loop loop() {
        return loop;
    }
}
