package dev.windlass.schedule;

import dev.windlass.FailedHead;
import dev.windlass.OwnerToken;
import dev.windlass.WindlassException;
import dev.windlass.runtime.Database;
import dev.windlass.runtime.OwnWork;
import dev.windlass.runtime.Require;
import dev.windlass.runtime.TimeOrderedIds;
import dev.windlass.schedule.JobRows.Stored;
import dev.windlass.schedule.JobStore.Triggered;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Jobs in the database: checks arguments, computes ticks, calls the store, and wakes whoever waits for the next one. */
final class StoredJobs implements Jobs {
    private static final Logger log = LoggerFactory.getLogger(Jobs.class);
    private static final int MAX_TEXT = 255;
    private static final int RESUME_TRIES = 10;

    private final Database database;
    private final JobStore store;
    private final JobTicker ticker;
    private final boolean handOff;
    private final Consumer<Collection<String>> handedOff;
    private final OwnWork<ClaimedJobRun, JobRunIdentifier> own;
    private final TimeOrderedIds ids = new TimeOrderedIds();
    private volatile boolean written;

    /**
     * @param handOff whether runs become messages
     * @param handedOff gets the topics that have new messages
     */
    StoredJobs(
            Database database,
            JobStore store,
            JobTicker ticker,
            boolean handOff,
            Consumer<Collection<String>> handedOff,
            OwnWork<ClaimedJobRun, JobRunIdentifier> own) {
        this.database = database;
        this.store = store;
        this.ticker = ticker;
        this.handOff = handOff;
        this.handedOff = handedOff;
        this.own = own;
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
        return store.save(connection, JobColumns.of(job, store.now(connection), Lengths.partOf(job.jitter())));
    }

    private void logSaved(Job job, boolean changed) {
        if (changed) {
            log.info("[{}] saved {}", database.name(), job);
        }
    }

    @Override
    public void delete(String name) {
        check(name);
        boolean[] tried = {false};
        boolean deleted = database.retrying(what("delete", name), connection -> {
            boolean again = tried[0];
            tried[0] = true;
            return store.delete(connection, name) || again; // an earlier try, whose answer was lost, has deleted it
        });
        deleted(name, deleted);
    }

    @Override
    public void delete(Connection connection, String name) {
        check(name);
        deleted(name, within(connection, what("delete", name), callers -> store.delete(callers, name)));
    }

    private void deleted(String name, boolean deleted) {
        if (!deleted) {
            throw unknown(name);
        }
        log.info("[{}] deleted job {}", database.name(), name);
    }

    @Override
    public JobRun trigger(String name) {
        check(name);
        UUID id = ids.next();
        return database.retrying(
                what("trigger", name),
                connection -> store.trigger(connection, name, id, handOff),
                triggered -> committed(name, triggered),
                connection -> trigger(connection, name));
    }

    private JobRun committed(String name, Triggered triggered) {
        UUID run = made(name, triggered);
        if (handOff && triggered.topic() != null) {
            handedOff.accept(List.of(triggered.topic()));
        } else {
            ticker.wake();
        }
        return database.retrying(what("read the run of", name), connection -> store.findRun(connection, run))
                .orElseThrow(() -> unknown(name));
    }

    @Override
    public JobRun trigger(Connection connection, String name) {
        check(name);
        return within(connection, what("trigger", name), callers -> {
            UUID run = made(name, store.trigger(callers, name, ids.next(), handOff));
            return store.findRun(callers, run).orElseThrow(() -> unknown(name));
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
        check(name);
        boolean[] tried = {false};
        boolean paused = database.retrying(what("pause", name), connection -> {
                    boolean again = tried[0];
                    tried[0] = true;
                    // an earlier try, whose answer was lost, has paused it
                    return store.pause(connection, name).map(changed -> changed || again);
                })
                .orElseThrow(() -> unknown(name));
        if (paused) {
            log.info("[{}] paused job {}", database.name(), name);
        }
        return paused;
    }

    /** The job is read, its tick computed, and written if nobody has changed the job meanwhile. */
    @Override
    public boolean resume(String name) {
        check(name);
        boolean[] repeated = {false};
        for (int tries = 0; tries < RESUME_TRIES; tries++) {
            Stored job = stored(name).orElseThrow(() -> unknown(name));
            boolean resumed = job.state().isPaused() ? resume(job, repeated) : repeated[0];
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
    private boolean resume(Stored job, boolean[] repeated) {
        Job its = job.state().job();
        if (its.schedule() instanceof Schedule.Unreadable unreadable) {
            throw new WindlassException("[" + database.name() + "] could not " + what("resume", its.name())
                    + ": its times cannot be read, save it again; " + unreadable.why());
        }
        Instant next = Ticks.of(its.schedule(), job.anchor()).next(job.now());
        Instant firesAt = next.plus(Lengths.partOf(its.jitter()));
        boolean[] tried = {false};
        return database.retrying(what("resume", its.name()), connection -> {
            repeated[0] |= tried[0];
            tried[0] = true;
            return store.resume(connection, job, next, firesAt);
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
        return database.retrying("read run " + id.value(), connection -> store.findRun(connection, id.value()));
    }

    @Override
    public List<JobRun> runs(String name, int limit, @Nullable JobRun before) {
        check(name);
        Require.positive("limit", limit);
        return database.retrying(what("list runs of", name), connection -> store.runs(connection, name, limit, before));
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
    public List<ClaimedJobRun> claimRuns(OwnerToken owner, Duration lease, int batchSize) {
        return own.claim(owner, lease, batchSize);
    }

    @Override
    public int ackRuns(OwnerToken owner, Collection<JobRunIdentifier> ids) {
        return own.ack(owner, ids);
    }

    @Override
    public int abandonRuns(OwnerToken owner, Collection<JobRunIdentifier> ids) {
        return own.abandon(owner, ids);
    }

    @Override
    public int abandonRuns(OwnerToken owner, Collection<JobRunIdentifier> ids, Duration delay, String error) {
        return own.abandon(owner, ids, delay, error);
    }

    @Override
    public int releaseRuns(OwnerToken owner, Collection<JobRunIdentifier> ids) {
        return own.release(owner, ids);
    }

    @Override
    public int releaseRuns(OwnerToken owner) {
        return own.release(owner);
    }

    @Override
    public int heartbeatRuns(OwnerToken owner, Collection<JobRunIdentifier> ids, Duration lease) {
        return own.heartbeat(owner, ids, lease);
    }

    @Override
    public int failRuns(OwnerToken owner, Collection<JobRunIdentifier> ids, String error) {
        return own.fail(owner, ids, error, FailedHead.IS_SKIPPED);
    }

    @Override
    public int reapExpiredRuns() {
        return own.reapExpired();
    }
}
