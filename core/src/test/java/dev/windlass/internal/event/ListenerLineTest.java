package dev.windlass.internal.event;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Listeners are users' code: they may be slow, broken, or hang. */
@Timeout(60)
final class ListenerLineTest {
    private final Queue<WindlassEvent> heard = new ConcurrentLinkedQueue<>();

    private static WindlassEvent event(int number) {
        return new WindlassEvent.StoreAdded("store " + number);
    }

    private static List<WindlassEvent> events(int from, int to) {
        return IntStream.range(from, to).mapToObj(ListenerLineTest::event).toList();
    }

    private static Listeners to(WindlassListener... listeners) {
        return Listeners.to(List.of(listeners));
    }

    @Test
    void whatOneThreadTellsIsHeardInItsOrderByAllAndOnOneThreadEach() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Queue<WindlassEvent> others = new ConcurrentLinkedQueue<>();
        Listeners listeners = to(
                event -> {
                    threads.add(Thread.currentThread());
                    heard.add(event);
                },
                others::add);

        events(0, 20_000).forEach(listeners::tell);
        listeners.close();

        assertThat(heard).containsExactlyElementsOf(events(0, 20_000));
        assertThat(others).containsExactlyElementsOf(events(0, 20_000));
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void oneThatHasLainDownIsWokenByTheNext() throws Exception {
        Thread[] thread = new Thread[1];
        Listeners listeners = to(event -> {
            thread[0] = Thread.currentThread();
            heard.add(event);
        });
        listeners.tell(event(0));
        eventually().until(() -> heard.size() == 1);
        eventually().until(() -> thread[0].getState() == Thread.State.WAITING);

        listeners.tell(event(1));

        eventually().until(() -> heard.size() == 2);
        listeners.close();
    }

    @Test
    void oneWhoseErrorCannotEvenBeLoggedHearsTheNextAndIsNamed() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            Listeners listeners = to(event -> {
                heard.add(event);
                throw new IllegalStateException() {
                    @Override
                    public String getMessage() {
                        throw new IllegalStateException("no words");
                    }
                };
            });
            events(0, 100).forEach(listeners::tell);
            listeners.close();

            assertThat(heard).hasSize(100);
            assertThat(logs.at(Level.ERROR)).singleElement().asString().contains("cannot be logged");
        }
    }

    @Test
    void oneThatThrowsHearsTheNextAndIsNamedOnce() {
        try (Logs logs = Logs.collect(Level.WARN)) {
            Listeners listeners = to(event -> {
                heard.add(event);
                throw new AssertionError("broken");
            });
            events(0, 100).forEach(listeners::tell);
            listeners.close();

            assertThat(heard).hasSize(100);
            assertThat(logs.at(Level.ERROR))
                    .singleElement()
                    .asString()
                    .contains(getClass().getName(), "broken");
        }
    }

    @Test
    void oneThatHangsKeepsNobodyWaitingAndIsToldOnceThatItMissesSomething() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (Logs logs = Logs.collect(Level.WARN)) {
            Queue<WindlassEvent> others = new ConcurrentLinkedQueue<>();
            Listeners listeners = to(
                    event -> {
                        goOn.await();
                        heard.add(event);
                    },
                    others::add);
            for (int i = 0; i < 60; i++) {
                int told = (i + 1) * 1000;
                events(i * 1000, told).forEach(listeners::tell);
                eventually().until(() -> others.size() == told);
            }

            assertThat(logs.count(Level.WARN, "does not keep up")).isEqualTo(1);
            goOn.countDown();
            eventually().until(() -> logs.count(Level.WARN, "keeps up again") == 1);
            listeners.close();
            assertThat(heard).hasSizeBetween(50_000, 50_001);
        }
    }

    @Test
    void closingDoesNotWaitForOneThatHangs() {
        CountDownLatch never = new CountDownLatch(1);
        Listeners listeners = to(event -> never.await());
        listeners.tell(event(0));
        listeners.close();
        listeners.tell(event(1));
        assertThat(never.getCount()).isEqualTo(1);
        never.countDown();
    }

    @Test
    void oneThatHangsIsNamedOnceAfterHalfAMinute() {
        AtomicLong now = new AtomicLong(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Logs logs = Logs.collect(Level.WARN)) {
            Listeners listeners = Listeners.to(
                    List.of(event -> {
                        heard.add(event);
                        goOn.await();
                    }),
                    now::get);
            listeners.tell(event(0));
            eventually().until(() -> heard.size() == 1);
            now.addAndGet(Duration.ofSeconds(29).toNanos());
            listeners.tell(event(1));
            assertThat(logs.at(Level.WARN)).isEmpty();

            now.addAndGet(Duration.ofSeconds(2).toNanos());
            listeners.tell(event(2));
            listeners.tell(event(3));

            assertThat(logs.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains(getClass().getName(), "has not returned from an event for 31 s", "1 others wait");
            goOn.countDown();
            listeners.close();
            assertThat(heard).containsExactlyElementsOf(events(0, 4));
        }
    }

    @Test
    void whoeverIsLeftBehindAtTheEndIsNamedWithWhatItHasNotHeard() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        Queue<WindlassEvent> others = new ConcurrentLinkedQueue<>();
        try (Logs logs = Logs.collect(Level.WARN)) {
            Listeners listeners = to(
                    event -> {
                        heard.add(event);
                        goOn.await();
                    },
                    others::add);
            events(0, 10).forEach(listeners::tell);
            eventually().until(() -> heard.size() == 1 && others.size() == 10);

            listeners.close();

            assertThat(logs.at(Level.WARN))
                    .singleElement()
                    .asString()
                    .contains(getClass().getName(), "9 others are left out");
            goOn.countDown();
        }
    }

    /** A second each would be more than this test has. */
    @Test
    void thoseThatHangAreLeftBehindTogether() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger hanging = new AtomicInteger();
        try (Logs logs = Logs.collect(Level.WARN)) {
            Listeners listeners = Listeners.to(Collections.nCopies(100, event -> {
                hanging.incrementAndGet();
                never.await();
            }));
            listeners.tell(event(0));
            eventually().until(() -> hanging.get() == 100);

            listeners.close();

            assertThat(logs.count(Level.WARN, "is left behind")).isEqualTo(100);
        } finally {
            never.countDown();
        }
    }

    @Test
    void nobodyIsHeardWhereNobodyListens() {
        assertThat(Listeners.NONE.areHeard()).isFalse();
        assertThat(to(event -> {}).and(Listeners.NONE).areHeard()).isTrue();
        assertThat(Listeners.NONE.and(to(heard::add)).areHeard()).isTrue();
    }

    @Test
    void aSlowOneHearsNoMoreAfterItsTimeIsUp() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        Thread[] thread = new Thread[1];
        Listeners listeners = to(event -> {
            thread[0] = Thread.currentThread();
            heard.add(event);
            goOn.await();
        });
        events(0, 10).forEach(listeners::tell);
        eventually().until(() -> heard.size() == 1);
        listeners.close();
        goOn.countDown();
        thread[0].join();
        assertThat(heard).hasSize(1);
    }
}
