package dev.windlass.internal.inbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.inbox.InboxKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WaitersTest {
    private static final InboxKey KEY = new InboxKey("orders", "1");
    private static final long FOREVER = Duration.ofDays(1).toNanos();

    private final Waiters waiters = new Waiters();
    private final AtomicReference<Thread> waiting = new AtomicReference<>();

    private CompletableFuture<Void> waiting() {
        CompletableFuture<Void> returned = CompletableFuture.runAsync(() -> {
            waiting.set(Thread.currentThread());
            try (Waiters.Place place = waiters.enter(KEY)) {
                place.await(place.calls(), FOREVER);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        eventually().until(() -> waiting.get() != null && waiting.get().getState() == Thread.State.TIMED_WAITING);
        return returned;
    }

    @Test
    void aCallEndsTheWaitForItsMessageAndNoOther() {
        CompletableFuture<Void> returned = waiting();
        waiters.call(new InboxKey("orders", "2"));
        assertThat(returned).isNotDone();
        waiters.call(KEY);
        returned.join();
        assertThat(waiters.areNone()).isTrue();
    }

    @Test
    void aCommitEndsTheWaitForWhatItsThreadHasMarked() {
        CompletableFuture<Void> returned = waiting();
        waiters.expect(KEY);
        CompletableFuture.runAsync(waiters::committed).join();
        assertThat(returned).isNotDone();
        waiters.committed();
        returned.join();
    }

    /** Or all who wait would ask the database after every commit of a busy process. */
    @Test
    void aCommitWithoutAMarkCallsNobody() {
        try (Waiters.Place place = waiters.enter(KEY)) {
            waiters.committed();
            assertThat(place.calls()).isZero();
            waiters.expect(KEY);
            waiters.committed();
            waiters.committed();
            assertThat(place.calls()).isEqualTo(1);
        }
    }

    @Test
    void aCallBetweenTheLookAndTheWaitIsNotMissed() throws InterruptedException {
        try (Waiters.Place place = waiters.enter(KEY)) {
            int calls = place.calls();
            waiters.call(KEY);
            place.await(calls, FOREVER);
        }
    }

    @Test
    void nobodyIsKeptWhoHasLeft() {
        try (Waiters.Place first = waiters.enter(KEY)) {
            waiters.enter(KEY).close();
            assertThat(first.calls()).isZero();
            assertThat(waiters.areNone()).isFalse();
        }
        assertThat(waiters.areNone()).isTrue();
    }
}
