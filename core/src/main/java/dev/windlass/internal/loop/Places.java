package dev.windlass.internal.loop;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Places for handlers, which several nodes may share. Whoever finds none free waits in line.
 *
 * <p>Some are kept for those who have none yet: however long the handlers of a few take, the others come through. Thread-safe.
 */
public final class Places {
    private final int kept;
    private final Map<Object, Integer> taken = new HashMap<>();
    private final Deque<Waiting> line = new ArrayDeque<>();
    private int free;
    private volatile boolean wanted;

    private record Waiting(Object owner, Runnable start) {}

    /**
     * @param all how many there are
     * @param kept how many of them are for owners that have none
     */
    public Places(int all, int kept) {
        this.free = all;
        this.kept = kept;
    }

    /** For a node that shares them with nobody. */
    public static Places unlimited() {
        return new Places(Integer.MAX_VALUE, 0);
    }

    /** Runs this as soon as there is a place for it: now, or by whoever gives one back. */
    public void take(Object owner, Runnable start) {
        synchronized (this) {
            if (!mayTake(owner)) {
                line.add(new Waiting(owner, start));
                wanted = true;
                return;
            }
            occupy(owner);
        }
        start.run();
    }

    /** Whether somebody waits who could have the place of another: a good moment to take turns. */
    public boolean areWanted() {
        return wanted;
    }

    /** Whether this owner would have one at once. */
    public synchronized boolean hasFree(Object owner) {
        return line.isEmpty() && mayTake(owner);
    }

    private boolean mayTake(Object owner) {
        return free > (taken.containsKey(owner) ? kept : 0);
    }

    private void occupy(Object owner) {
        free--;
        taken.merge(owner, 1, Integer::sum);
    }

    public void giveBack(Object owner) {
        Runnable next;
        synchronized (this) {
            free++;
            taken.computeIfPresent(owner, (unused, count) -> count == 1 ? null : count - 1);
            next = next();
        }
        if (next != null) {
            next.run();
        }
    }

    /** Those who have none come first. */
    private @Nullable Runnable next() {
        Waiting next = null;
        for (Waiting each : line) {
            if (mayTake(each.owner) && (next == null || !taken.containsKey(each.owner))) {
                next = each;
                if (!taken.containsKey(each.owner)) {
                    break;
                }
            }
        }
        if (next != null) {
            line.remove(next);
            occupy(next.owner);
        }
        wanted = !line.isEmpty();
        return next == null ? null : next.start;
    }

    /** Takes an owner out of the line. Returns how many times it stood there. */
    public synchronized int forget(Object owner) {
        int count = 0;
        for (Iterator<Waiting> each = line.iterator(); each.hasNext(); ) {
            if (each.next().owner == owner) {
                each.remove();
                count++;
            }
        }
        wanted = !line.isEmpty();
        return count;
    }
}
