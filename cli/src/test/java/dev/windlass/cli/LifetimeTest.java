package dev.windlass.cli;

import static dev.windlass.cli.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class LifetimeTest {
    private final Lifetime lifetime = new Lifetime();
    private final List<String> closed = new CopyOnWriteArrayList<>();

    @Test
    void partsCloseInTheOppositeOrderOfTheirStart() throws Exception {
        start("server");
        start("pool");
        start("node");
        lifetime.close();
        assertThat(closed).containsExactly("node", "pool", "server");
    }

    @Test
    void partThatFailsToCloseDoesNotKeepTheOthersOpen() throws Exception {
        start("server");
        lifetime.start(() -> () -> {
            throw new IllegalStateException("on purpose");
        });
        lifetime.close();
        assertThat(closed).containsExactly("server");
    }

    @Test
    void closingTwiceClosesOnce() throws Exception {
        start("server");
        lifetime.close();
        lifetime.close();
        assertThat(closed).containsExactly("server");
    }

    @Test
    void nothingStartsAfterTheEndHasBegun() {
        lifetime.close();
        assertThatThrownBy(() -> start("server")).isInstanceOf(Lifetime.Ended.class);
    }

    @Test
    void endWaitsForAStartThatIsUnderWayAndClosesItsPart() throws Exception {
        CountDownLatch starting = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread starter = new Thread(() -> {
            try {
                lifetime.start(() -> {
                    starting.countDown();
                    goOn.await();
                    return () -> closed.add("server");
                });
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        starter.start();
        starting.await();
        Thread ender = new Thread(lifetime::close);
        ender.start();
        eventually().until(() -> ender.getState() == Thread.State.BLOCKED);
        assertThat(closed).isEmpty();
        goOn.countDown();
        ender.join();
        assertThat(closed).containsExactly("server");
    }

    private void start(String part) throws Exception {
        lifetime.start(() -> () -> closed.add(part));
    }
}
