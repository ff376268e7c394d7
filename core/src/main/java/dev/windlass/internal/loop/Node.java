package dev.windlass.internal.loop;

import dev.windlass.base.Deadline;
import dev.windlass.base.MonotonicClock;
import dev.windlass.internal.database.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** What all features of one node share in the background. */
public final class Node {
    /** For one who listens to a database that answers. */
    private static final Duration LAST_SLICE = Duration.ofMillis(500);

    /** Whoever cannot have a connection by then is told so: a pool gives up sooner, as a rule. */
    public static final Duration LONGEST_LOGIN = Duration.ofMinutes(1);

    private final Database background;
    private final Shared shared;
    private final KeptConnection kept;
    private final Signals signals;
    private final Lookout lookout;
    private volatile boolean keeps;
    private volatile Runnable committed = () -> {};

    /** What several nodes of one process share. */
    public record Shared(Workers workers, Places places, Turnstile turnstile, Attention attention) {
        /** For a node that shares with nobody. */
        public static Shared none(Workers workers) {
            return new Shared(workers, Places.unlimited(), Turnstile.OPEN, Attention.ALWAYS);
        }
    }

    /**
     * @param database what is looked at
     * @param background gives the connection that is kept
     * @param wakeUp whether to listen to other processes
     * @param longestPause between two looks at an idle database
     */
    public Node(Database database, Database background, Shared shared, boolean wakeUp, Duration longestPause) {
        this.background = background;
        this.shared = shared;
        this.kept = new KeptConnection(background.givingUpLogins(LONGEST_LOGIN), shared.workers);
        this.keeps = shared.attention.isOn(this);
        this.kept.allow(keeps);
        Database patient = database.givingUpLogins(LONGEST_LOGIN);
        this.lookout = new Lookout(patient, shared.workers, longestPause, keeps);
        this.signals = new Signals(background, patient, kept, shared.workers, wakeUp, keeps, lookout::hears);
    }

    public String name() {
        return background.name();
    }

    public Workers workers() {
        return shared.workers;
    }

    public Places places() {
        return shared.places;
    }

    public Turnstile turnstile() {
        return shared.turnstile;
    }

    public Signals signals() {
        return signals;
    }

    public Lookout lookout() {
        return lookout;
    }

    /** All that runs for the node itself. */
    public List<Loop> loops() {
        return List.of(lookout.loop(), signals.loop());
    }

    /** Things to be done now and then; at once, if this node shares with nobody, else at some time, so that many do not begin together. */
    public Chores chores(String name, List<Chore> all, Duration shortestPause, Duration longestPause) {
        double part = keeps ? 0 : ThreadLocalRandom.current().nextDouble();
        Duration first = Duration.ofNanos((long) (longestPause.toNanos() * part));
        return Chores.nowAndThen(name, shared.workers, all, first, shortestPause, longestPause);
    }

    /**
     * From now on the connection is wanted by this one, as far as the node keeps one.
     *
     * @param answer how long the call of another may take, at most
     */
    public void use(Object user, Duration answer) {
        kept.use(user, answer);
    }

    public void leave(Object user) {
        kept.leave(user);
    }

    /** Whom to tell that this node has committed something. */
    public void onCommit(Runnable told) {
        committed = told;
    }

    /** This node has committed what may have made something ready in any feature. Not every node hears of it from the database. */
    public void committed() {
        committed.run();
    }

    /** There is work here. */
    public void busy() {
        shared.attention.busy(this);
        lookout.busy();
    }

    /** Whether it keeps a connection; else it borrows one for each call, and hears nothing. */
    public void keep(boolean keeps) {
        this.keeps = keeps;
        if (keeps) {
            kept.allow(true);
            signals.listen();
        } else {
            signals.rest();
            kept.allow(false);
        }
    }

    /** Makes sure that what is claimed next can be renewed. */
    public void open(Duration patience) throws SQLException {
        if (!keeps) {
            return;
        }
        try {
            kept.await(patience);
        } catch (SQLException e) {
            if (keeps) {
                throw e;
            }
        }
    }

    /**
     * Runs work that is one statement and has to come through: on the connection that is kept, and once more on another one if
     * that breaks.
     *
     * @param time for a connection, and then for an answer
     */
    public <T> T call(Duration time, Database.Work<T> work) throws SQLException {
        if (keeps) {
            try {
                return callKept(time, work);
            } catch (SQLException e) {
                if (keeps) {
                    throw e;
                }
            }
        }
        return background.answeringWithin(time).once(work);
    }

    private <T> T callKept(Duration time, Database.Work<T> work) throws SQLException {
        kept.await(time);
        try {
            return kept.call(time, work);
        } catch (SQLException e) {
            if (kept.isThere() || !keeps) {
                throw e;
            }
        }
        kept.await(time);
        return kept.call(time, work);
    }

    /** Ends what is left when all features have ended. */
    public void end(Deadline deadline) {
        shared.attention.forget(this);
        signals.askToStop();
        Deadline soon = deadline.remaining().compareTo(LAST_SLICE) < 0
                ? deadline
                : Deadline.in(MonotonicClock.system(), LAST_SLICE);
        signals.end(soon);
        lookout.end(soon);
        kept.stop();
    }

    /** The connection that is kept, for tests of it. */
    KeptConnection kept() {
        return kept;
    }
}
