package dev.windlass.internal.schedule;

import dev.windlass.base.Claims;
import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WorkStatus;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.OwnWork;
import dev.windlass.internal.queue.Pages;
import dev.windlass.internal.schedule.JobRows.Stored;
import dev.windlass.internal.schedule.JobStore.Triggered;
import dev.windlass.internal.support.JobDurations;
import dev.windlass.internal.support.Place;
import dev.windlass.internal.support.Require;
import dev.windlass.internal.support.TimeOrderedIds;
import dev.windlass.operator.FailedAttempt;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import dev.windlass.schedule.ClaimedJobRun;
import dev.windlass.schedule.Job;
import dev.windlass.schedule.JobOperator;
import dev.windlass.schedule.JobRun;
import dev.windlass.schedule.JobRunIdentifier;
import dev.windlass.schedule.JobState;
import dev.windlass.schedule.Jobs;
import dev.windlass.schedule.Schedule;
import dev.windlass.schedule.UnfinishedRunException;
import dev.windlass.schedule.UnknownJobException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Jobs in the database: checks arguments, computes ticks, calls the store, and wakes whoever waits for the next one. */
final class StoredJobs implements Jobs {
    private static final Logger log = LoggerFactory.getLogger(Jobs.class);
    private static final int MAX_TEXT = 255;
    private static final int RESUME_TRIES = 10;
    private static final String RUNS = "runs of a job";

    private final Database database;
    private final JobStore store;
    private final JobRunStore runs;
    private final JobTicker ticker;
    private final boolean handOff;
    private final Consumer<Collection<String>> handedOff;
    private final PayloadCodec codec;
    private final OwnWork<ClaimedJobRun, JobRunIdentifier> own;
    private final BiFunction<StoredJobs, String, JobOperator> operators;
    private final TimeOrderedIds ids = new TimeOrderedIds();
    private volatile boolean written;

    /**
     * @param handOff whether runs become messages
     * @param handedOff gets the topics that have new messages
     */
    StoredJobs(
            Database database,
            JobStore store,
            JobRunStore runs,
            JobTicker ticker,
            boolean handOff,
            Consumer<Collection<String>> handedOff,
            PayloadCodec codec,
            OwnWork<ClaimedJobRun, JobRunIdentifier> own,
            BiFunction<StoredJobs, String, JobOperator> operators) {
        this.database = database;
        this.store = store;
        this.runs = runs;
        this.ticker = ticker;
        this.handOff = handOff;
        this.handedOff = handedOff;
        this.codec = codec;
        this.own = own;
        this.operators = operators;
    }

    @Override
    public void save(Job job) {
        Require.present("job", job).complete();
        boolean changed = database.retrying(
                what("save", job.name()), connection -> write(connection, job), connection -> writeIn(connection, job));
        logSaved(job, changed);
        ticker.wake();
    }

    @Override
    public void save(Connection connection, Job job) {
        Require.present("job", job).complete();
        logSaved(job, writeIn(connection, job));
    }

    private boolean writeIn(Connection connection, Job job) {
        return within(connection, what("save", job.name()), callers -> write(callers, job));
    }

    private boolean write(Connection connection, Job job) throws SQLException {
        return store.save(connection, JobColumns.of(job, store.now(connection), JobDurations.partOf(job.jitter())));
    }

    private void logSaved(Job job, boolean changed) {
        if (changed) {
            log.info("[{}] saved {}", database.name(), job);
        }
    }

    @Override
    public void delete(String name) {
        delete(name, null);
    }

    /**
     * @param by the operator, if it is one
     */
    void delete(String name, @Nullable String by) {
        check(name);
        boolean[] tried = {false};
        boolean deleted = database.retrying(what("delete", name), connection -> {
            boolean again = tried[0];
            tried[0] = true;
            return store.delete(connection, name, by) || again; // an earlier try, whose answer was lost, has deleted it
        });
        deleted(name, deleted);
    }

    @Override
    public void delete(Connection connection, String name) {
        check(name);
        deleted(name, within(connection, what("delete", name), callers -> store.delete(callers, name, null)));
    }

    private void deleted(String name, boolean deleted) {
        if (!deleted) {
            throw unknown(name);
        }
        log.info("[{}] deleted job {}", database.name(), name);
    }

    @Override
    public JobRun trigger(String name) {
        return trigger(name, null);
    }

    JobRun trigger(String name, @Nullable String by) {
        check(name);
        UUID id = ids.next();
        return database.retrying(
                what("trigger", name),
                connection -> store.trigger(connection, name, id, handOff, by),
                triggered -> committed(name, triggered),
                connection -> triggerIn(connection, name, by));
    }

    private JobRun committed(String name, Triggered triggered) {
        UUID run = made(name, triggered);
        if (handOff && triggered.topic() != null) {
            handedOff.accept(List.of(triggered.topic()));
        } else {
            ticker.wake();
        }
        return database.retrying(what("read the run of", name), connection -> runs.state(connection, run))
                .orElseThrow(() -> unknown(name));
    }

    @Override
    public JobRun trigger(Connection connection, String name) {
        check(name);
        return triggerIn(connection, name, null);
    }

    private JobRun triggerIn(Connection connection, String name, @Nullable String by) {
        return within(connection, what("trigger", name), callers -> {
            UUID run = made(name, store.trigger(callers, name, ids.next(), handOff, by));
            return runs.state(callers, run).orElseThrow(() -> unknown(name));
        });
    }

    private UUID made(String name, Triggered triggered) {
        if (triggered.run() == null) {
            throw triggered.unfinished() == null
                    ? unknown(name)
                    : new UnfinishedRunException(database.name(), name, triggered.unfinished());
        }
        log.debug("[{}] triggered job {}: run {}", database.name(), name, triggered.run());
        return triggered.run();
    }

    @Override
    public boolean pause(String name) {
        return pause(name, null);
    }

    boolean pause(String name, @Nullable String by) {
        check(name);
        boolean[] tried = {false};
        boolean paused = database.retrying(what("pause", name), connection -> {
                    boolean again = tried[0];
                    tried[0] = true;
                    // an earlier try, whose answer was lost, has paused it
                    return store.pause(connection, name, by).map(changed -> changed || again);
                })
                .orElseThrow(() -> unknown(name));
        if (paused) {
            log.info("[{}] paused job {}", database.name(), name);
        }
        return paused;
    }

    @Override
    public boolean resume(String name) {
        return resume(name, null);
    }

    /** The job is read, its tick computed, and written if nobody has changed the job meanwhile. */
    boolean resume(String name, @Nullable String by) {
        check(name);
        boolean[] repeated = {false};
        for (int tries = 0; tries < RESUME_TRIES; tries++) {
            Stored job = stored(name).orElseThrow(() -> unknown(name));
            boolean resumed = job.state().isPaused() ? resume(job, repeated, by) : repeated[0];
            if (resumed) {
                log.info("[{}] resumed job {}", database.name(), name);
                ticker.wake();
            }
            if (resumed || !job.state().isPaused()) {
                return resumed;
            }
        }
        throw new WindlassException("[" + database.name() + "] job \"" + name
                + "\" was changed by others again and again while it was to be resumed; try again");
    }

    /**
     * Goes on with the next tick.
     *
     * @param repeated becomes true if an answer was lost: what it spoke of has been done, perhaps
     */
    private boolean resume(Stored job, boolean[] repeated, @Nullable String by) {
        Job its = job.state().job();
        if (its.schedule() instanceof Schedule.Unreadable unreadable) {
            throw new WindlassException("[" + database.name() + "] could not " + what("resume", its.name())
                    + ": its times cannot be read, save it again; " + unreadable.why());
        }
        Instant next = Ticks.of(its.schedule(), job.anchor()).next(job.now());
        Instant firesAt = next.plus(JobDurations.partOf(its.jitter()));
        boolean[] tried = {false};
        return database.retrying(what("resume", its.name()), connection -> {
            repeated[0] |= tried[0];
            tried[0] = true;
            return store.resume(connection, job, next, firesAt, by);
        });
    }

    private Optional<Stored> stored(String name) {
        return database.retrying(what("read", name), connection -> store.find(connection, name));
    }

    @Override
    public Optional<JobState> find(String name) {
        check(name);
        return stored(name).map(Stored::state);
    }

    @Override
    public List<JobState> list() {
        return database.retrying("list jobs", store::list).stream()
                .map(Stored::state)
                .toList();
    }

    @Override
    public Optional<JobRun> findRun(JobRunIdentifier id) {
        Require.present("run identifier", id);
        return database.retrying("read run " + id.value(), connection -> runs.state(connection, id.value()));
    }

    @Override
    public Page<JobRun> runs(String name, int limit) {
        return runs(name, limit, Place.START);
    }

    @Override
    public Page<JobRun> runs(String name, int limit, PagePosition after) {
        return runs(name, limit, Pages.after(after, RUNS));
    }

    private Page<JobRun> runs(String name, int limit, Place after) {
        check(name);
        Require.positive("limit", limit);
        List<JobRun> shown =
                database.retrying(what("list runs of", name), connection -> runs.ofJob(connection, name, limit, after));
        return Pages.of(RUNS, shown, limit, last -> Place.at(last.createdAt(), last.id()));
    }

    @Override
    public boolean cancelRun(JobRunIdentifier id) {
        Require.present("run identifier", id);
        boolean[] tried = {false};
        return changed(database.retrying("cancel run " + id.value(), connection -> {
            boolean again = tried[0];
            tried[0] = true;
            return runs.cancelAnywhere(connection, id.value()) || (again && isCancelled(connection, id.value()));
        }));
    }

    /** By an earlier try, perhaps, whose answer was lost. */
    private boolean isCancelled(Connection connection, UUID id) throws SQLException {
        return runs.state(connection, id)
                .filter(run -> run.status() == WorkStatus.CANCELLED)
                .isPresent();
    }

    @Override
    public boolean cancelRun(Connection connection, JobRunIdentifier id) {
        Require.present("run identifier", id);
        return within(connection, "cancel run " + id.value(), callers -> runs.cancelAnywhere(callers, id.value()));
    }

    @Override
    public boolean rescheduleRun(JobRunIdentifier id, Instant dueTime) {
        Require.present("run identifier", id);
        Require.instant("due time", dueTime);
        return changed(database.retrying(
                "reschedule run " + id.value(),
                connection -> runs.rescheduleAnywhere(connection, id.value(), dueTime)));
    }

    @Override
    public boolean rescheduleRun(Connection connection, JobRunIdentifier id, Instant dueTime) {
        Require.present("run identifier", id);
        Require.instant("due time", dueTime);
        return within(
                connection,
                "reschedule run " + id.value(),
                callers -> runs.rescheduleAnywhere(callers, id.value(), dueTime));
    }

    /** It may be due now, or let the next run of its job be made. */
    private boolean changed(boolean changed) {
        if (changed) {
            ticker.wake();
        }
        return changed;
    }

    @Override
    public List<FailedAttempt> failures(JobRunIdentifier id) {
        Require.present("run identifier", id);
        return database.retrying(
                "read the failures of run " + id.value(), connection -> runs.failures(connection, id.value()));
    }

    @Override
    public boolean recordOutput(JobRunIdentifier id, String output) {
        checkOutput(id, output);
        return database.retrying(
                "record the output of run " + id.value(),
                connection -> runs.recordOutput(connection, id.value(), output));
    }

    @Override
    public boolean recordOutput(Connection connection, JobRunIdentifier id, String output) {
        checkOutput(id, output);
        return database.within(
                connection,
                "record the output of run " + id.value(),
                callers -> runs.recordOutput(callers, id.value(), output));
    }

    private static void checkOutput(JobRunIdentifier id, String output) {
        Require.present("run identifier", id);
        Require.storable("output", output);
    }

    @Override
    public <T> Job job(Job job, Topic<T> topic, T payload) {
        return Require.present("job", job)
                .withTopic(Require.present("topic", topic).name())
                .withPayload(codec.encode(Require.present("payload", payload)));
    }

    @Override
    public JobOperator operator(String name) {
        return operators.apply(this, Require.text("name of the operator", name, MAX_TEXT));
    }

    private static void check(String name) {
        Require.name("job name", name, MAX_TEXT);
    }

    private static String what(String verb, String name) {
        return verb + " job \"" + name + "\"";
    }

    private UnknownJobException unknown(String name) {
        return new UnknownJobException(database.name(), name);
    }

    private <T> T within(Connection connection, String what, Database.Work<T> work) {
        T result = database.within(connection, what, work);
        expect();
        return result;
    }

    private void expect() {
        written = true;
        ticker.expect();
    }

    /** This process has committed a transaction that may have changed jobs. */
    void committed() {
        if (written) {
            written = false;
            ticker.wake();
        }
    }

    @Override
    public Claims<ClaimedJobRun, JobRunIdentifier> runClaims() {
        return own;
    }
}
