package dev.windlass.examples;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassException;
import dev.windlass.base.WindlassOptions;
import dev.windlass.base.WorkStatus;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A worker of one's own on the low-level verbs: claim, heartbeat, ack, abandon, fail.
 *
 * <p>Every claim has a fresh owner token, leases of long work are renewed, and the counts that the verbs return tell the worker
 * when it has lost a message to somebody else. Handlers registered with {@link Windlass} do all of this by themselves; write a
 * loop when you need to decide yourself what is claimed when.
 */
public final class ClaimLoop implements Runnable {
    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final int MAX_ATTEMPTS = 5;

    private final Outbox outbox;
    private final Work work;
    private final ScheduledExecutorService heart = Executors.newSingleThreadScheduledExecutor();
    private volatile boolean stopping;

    /** What is done with a message; {@code lost} turns true when another worker may have it. */
    @FunctionalInterface
    interface Work {
        void run(OutboxMessage message, BooleanSupplier lost) throws Exception;
    }

    ClaimLoop(Outbox outbox, Work work) {
        this.outbox = outbox;
        this.work = work;
    }

    // tag::loop
    /** Works until {@link #stop} is called; the message in hand is finished then. */
    @Override
    public void run() {
        try {
            while (!stopping) {
                if (!workOnNext()) {
                    MILLISECONDS.sleep(20);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            heart.shutdownNow();
        }
    }

    private boolean workOnNext() {
        OwnerToken owner = OwnerToken.fresh();
        try {
            List<OutboxMessage> claimed = outbox.claim(owner, LEASE, 1);
            claimed.forEach(message -> workOn(owner, message));
            return !claimed.isEmpty();
        } catch (WindlassException e) {
            System.out.println("the database is away, trying again: " + e.getMessage());
            return false;
        }
    }

    void stop() {
        stopping = true;
    }
    // end::loop

    // tag::work
    private void workOn(OwnerToken owner, OutboxMessage message) {
        AtomicBoolean lost = new AtomicBoolean();
        long third = LEASE.toMillis() / 3;
        ScheduledFuture<?> beat =
                heart.scheduleAtFixedRate(() -> renew(owner, message, lost), third, third, MILLISECONDS);
        Exception failure = null;
        try {
            work.run(message, lost::get);
        } catch (Exception e) {
            failure = e;
        } finally {
            beat.cancel(false);
        }
        if (complete(owner, message, failure) == 0) {
            System.out.println("lost " + message.payload() + " while working on it; somebody else has it now");
        }
    }

    private void renew(OwnerToken owner, OutboxMessage message, AtomicBoolean lost) {
        try {
            if (outbox.heartbeat(owner, List.of(message.id()), LEASE) == 0) {
                lost.set(true);
            }
        } catch (WindlassException e) {
            System.out.println("one failed heartbeat is not a lost lease: " + e.getMessage());
        }
    }

    private int complete(OwnerToken owner, OutboxMessage message, @Nullable Exception failure) {
        List<OutboxWorkItemIdentifier> ids = List.of(message.id());
        if (failure == null) {
            return outbox.ack(owner, ids);
        }
        boolean hopeless = failure instanceof IllegalArgumentException || message.retryCount() + 1 >= MAX_ATTEMPTS;
        return hopeless
                ? outbox.fail(owner, ids, failure.toString())
                : outbox.abandon(owner, ids, Duration.ofMillis(100), failure.toString());
    }
    // end::work

    public static void main(String[] args) throws Exception {
        try (Windlass windlass = Windlass.on(EmbeddedPostgres.shared().dataSource())
                .options(WindlassOptions.defaults().withBackgroundWorkers(false))
                .outbox(OutboxOptions.defaults().withLease(LEASE))
                .ensureSchema()
                .start()) {
            shipParcels(windlass.outbox());
            loseALease(windlass.outbox());
        }
    }

    private static void shipParcels(Outbox outbox) throws InterruptedException {
        List<OutboxMessageIdentifier> parcels = outbox.enqueueAll(Stream.of("small", "flaky", "unreadable", "heavy")
                .map(parcel -> OutboxEntry.of("parcel.packed", parcel))
                .toList());
        ClaimLoop loop = new ClaimLoop(outbox, ClaimLoop::ship);
        Thread thread = new Thread(loop, "claim-loop");
        thread.start();
        while (!parcels.stream().allMatch(parcel -> hasEnded(outbox, parcel))) {
            MILLISECONDS.sleep(20);
        }
        loop.stop();
        thread.join();
    }

    private static void ship(OutboxMessage message, BooleanSupplier lost) throws Exception {
        String parcel = message.payload();
        if (parcel.equals("unreadable")) {
            System.out.println("unreadable can never be shipped");
            throw new IllegalArgumentException("no address");
        }
        if (parcel.equals("flaky") && message.retryCount() == 0) {
            System.out.println("flaky comes again");
            throw new IOException("the courier does not answer");
        }
        for (int step = 0; parcel.equals("heavy") && step < 15; step++) {
            MILLISECONDS.sleep(LEASE.toMillis() / 10);
            if (lost.getAsBoolean()) {
                throw new IOException("lost the lease, so somebody else may ship it");
            }
        }
        System.out.println("shipped " + parcel);
    }

    private static boolean hasEnded(Outbox outbox, OutboxMessageIdentifier id) {
        WorkStatus status = outbox.find(id).orElseThrow().status();
        return status == WorkStatus.DONE || status == WorkStatus.FAILED;
    }

    /** What happens to a worker that stood still for longer than its lease. */
    private static void loseALease(Outbox outbox) throws InterruptedException {
        outbox.enqueue(OutboxEntry.of("parcel.packed", "contested"));
        // tag::lost
        OwnerToken slow = OwnerToken.fresh();
        List<OutboxWorkItemIdentifier> ids = outbox.claim(slow, Duration.ofMillis(50), 1).stream()
                .map(OutboxMessage::id)
                .toList();
        while (outbox.reapExpired() == 0) { // nodes with background work do this by themselves
            MILLISECONDS.sleep(20);
        }
        OwnerToken quick = OwnerToken.fresh();
        outbox.claim(quick, LEASE, 1);

        System.out.println("slow renews " + outbox.heartbeat(slow, ids, LEASE) + ", acks " + outbox.ack(slow, ids));
        System.out.println("quick acks " + outbox.ack(quick, ids));
        // end::lost
    }
}
