package dev.windlass.internal.event;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
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
