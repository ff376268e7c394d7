package dev.windlass.internal.fleet;

import dev.windlass.internal.loop.Attention;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;

/**
 * Lets a limited number of nodes keep a connection: those that had work most recently. One that has had none for a while makes room
 * for another. Thread-safe.
 */
public final class RecentAttention implements Attention {
    private static final long IDLE_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long NOTED_EVERY_NANOS = Duration.ofSeconds(1).toNanos();

    private final int most;
    private final Workers workers;
    /** When each was last busy; the one for which that is longest ago first. */
    private final Map<Node, Long> keeping = new LinkedHashMap<>();

    public RecentAttention(int most, Workers workers) {
        this.most = most;
        this.workers = workers;
    }

    @Override
    public boolean isOn(Node node) {
        return false;
    }

    @Override
    public synchronized void busy(Node node) {
        long now = System.nanoTime();
        Long before = keeping.get(node);
        if (before != null) {
            if (now - before >= NOTED_EVERY_NANOS) {
                keeping.remove(node);
                keeping.put(node, now);
            }
            return;
        }
        if (keeping.size() < most || makesRoom(now)) {
            keeping.put(node, now);
            update(node);
        }
    }

    private boolean makesRoom(long now) {
        Map.Entry<Node, Long> first =
                keeping.isEmpty() ? null : keeping.entrySet().iterator().next();
        if (first == null || now - first.getValue() < IDLE_NANOS) {
            return false;
        }
        keeping.remove(first.getKey());
        update(first.getKey());
        return true;
    }

    /** On another thread: to give a connection back may take as long as a call on it. */
    private void update(Node node) {
        try {
            workers.runLoop(() -> {
                synchronized (node) {
                    node.keep(isKeeping(node));
                }
            });
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            keeping.remove(node); // it works without, too
        }
    }

    private synchronized boolean isKeeping(Node node) {
        return keeping.containsKey(node);
    }

    @Override
    public synchronized void forget(Node node) {
        keeping.remove(node);
    }
}
