package dev.windlass.internal.inbox;

import dev.windlass.inbox.InboxKey;
import dev.windlass.internal.support.Place;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Threads of this process that wait for the outcome of a message, and are called when it may have changed here. */
final class Waiters {
    private final ConcurrentHashMap<InboxKey, Gate> gates = new ConcurrentHashMap<>();

    /** Who enters before he looks misses no call that comes after his look. */
    Place enter(InboxKey key) {
        Gate gate = gates.compute(key, (unused, known) -> (known == null ? new Gate() : known).entered());
        return new Place(key, gate);
    }

    void call(InboxKey key) {
        Gate gate = gates.get(key);
        if (gate != null) {
            gate.call();
        }
    }

    /** This thread is in a transaction that may end the wait for this message; {@link #committed} tells when. */
    void expect(InboxKey key) {
        Gate gate = gates.get(key);
        if (gate != null) {
            gate.expected = Thread.currentThread();
        }
    }

    /**
     * This thread has committed. Calls only those whose message was marked on this thread: others would all ask the database,
     * after every commit of the process.
     */
    void committed() {
        for (Gate gate : gates.values()) {
            if (gate.expected == Thread.currentThread()) {
                gate.expected = null;
                gate.call();
            }
        }
    }

    boolean areNone() {
        return gates.isEmpty();
    }

    final class Place implements AutoCloseable {
        private final InboxKey key;
        private final Gate gate;

        private Place(InboxKey key, Gate gate) {
            this.key = key;
            this.gate = gate;
        }

        int calls() {
            return gate.calls();
        }

        /** Waits until there have been more calls than this, or the time is over. */
        void await(int calls, long nanos) throws InterruptedException {
            gate.await(calls, nanos);
        }

        @Override
        public void close() {
            gates.computeIfPresent(key, (unused, known) -> known.left() ? null : known);
        }
    }

    private static final class Gate {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition called = lock.newCondition();
        volatile @Nullable Thread expected;
        private int inside; // guarded by the map
        private int calls;

        Gate entered() {
            inside++;
            return this;
        }

        /** Returns whether nobody is left. */
        boolean left() {
            return --inside == 0;
        }

        int calls() {
            lock.lock();
            try {
                return calls;
            } finally {
                lock.unlock();
            }
        }

        void call() {
            lock.lock();
            try {
                calls++;
                called.signalAll();
            } finally {
                lock.unlock();
            }
        }

        void await(int seen, long nanos) throws InterruptedException {
            long deadline = System.nanoTime() + nanos;
            lock.lockInterruptibly();
            try {
                while (calls == seen && deadline - System.nanoTime() > 0) {
                    var unused = called.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
