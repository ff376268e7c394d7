package dev.windlass.internal.dispatch;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose handler may start next on this node. Used under the lock of the {@link Lanes}.
 *
 * <p>A lane in which nothing runs may start a message whenever a place is free. Its further ones must leave a place free for every
 * other lane in which nothing runs, up to half of all places. Among lanes that may start, the one that has used the least handler
 * time lately comes first. So a topic finds a place when it has something to do, as long as there are more places than topics
 * at work; busy topics can use half of the node at least, and one that is alone all of it.
 *
 * <p>Of <em>suspects</em>, whose lease ran out after their handler had been started, one at a time is between its start and its
 * written outcome: so none is blamed for what another does. The others wait aside.
 */
final class Turns<M> {
    private final List<TopicLane<M>> lanes;
    private final int places;
    private @Nullable Attempt<M> suspect;
    private int running;
    private int first;

    /**
     * @param places how many handlers run at once
     */
    Turns(List<TopicLane<M>> lanes, int places) {
        this.lanes = lanes;
        this.places = places;
    }

    int running() {
        return running;
    }

    /** How many of those that wait may start now. */
    int startable(long now) {
        int free = places - running;
        int firsts = 0;
        int further = 0;
        for (TopicLane<M> lane : lanes) {
            int startable = lane.startable(suspect == null, now);
            int own = startable > 0 && lane.running == 0 ? 1 : 0;
            firsts += own;
            further += startable - own;
        }
        return Math.min(free, firsts + Math.min(further, spare(free - firsts, idleLanes(now) - firsts)));
    }

    /** Whether another handler of this lane may start. */
    boolean hasPlace(TopicLane<M> lane, long now) {
        return running < places
                && lane.running < lane.concurrency()
                && (lane.running == 0 || spare(places - running, idleLanes(now)) > 0);
    }

    /** The same for one that is being written, as if those for whom a place is kept were running. */
    boolean canKeep(TopicLane<M> lane, long now) {
        int taken = running;
        int idle = 0;
        for (TopicLane<M> each : lanes) {
            taken += each.kept;
            idle += each.running + each.kept == 0 && !each.rests(now) ? 1 : 0;
        }
        int ofLane = lane.running + lane.kept;
        return taken < places && ofLane < lane.concurrency() && (ofLane == 0 || spare(places - taken, idle) > 0);
    }

    /** How many places are left to lanes that have one already. */
    private int spare(int free, int idleLanes) {
        return Math.max(0, free - Math.min(idleLanes, places / 2));
    }

    private int idleLanes(long now) {
        int idle = 0;
        for (TopicLane<M> lane : lanes) {
            idle += lane.running == 0 && !lane.rests(now) ? 1 : 0;
        }
        return idle;
    }

    /** Starts the next message, if there is one that may start. */
    @Nullable
    Attempt<M> start(long now) {
        TopicLane<M> lane = next(now);
        if (lane == null) {
            return null;
        }
        Attempt<M> attempt = lane.start(suspect == null, now);
        suspect = attempt.isSuspect() ? attempt : suspect;
        running++;
        return attempt;
    }

    /** Among equals they take turns. */
    private @Nullable TopicLane<M> next(long now) {
        int spare = spare(places - running, idleLanes(now));
        TopicLane<M> next = null;
        for (int i = 0; i < lanes.size(); i++) {
            TopicLane<M> lane = lanes.get((first + i) % lanes.size());
            boolean mayStart = lane.startable(suspect == null, now) > 0 && (lane.running == 0 || spare > 0);
            if (mayStart && (next == null || lane.used(now) < next.used(now))) {
                next = lane;
            }
        }
        first = (first + 1) % lanes.size();
        return next;
    }

    /** Its handler has returned, or is given up. */
    Breaker.Effect ended(Attempt<M> attempt, Result result, long now) {
        running--;
        return attempt.lane.ended(attempt, result, now);
    }

    /** Its outcome has been written. */
    void settled(Attempt<M> attempt) {
        suspect = attempt == suspect ? null : suspect;
    }
}
