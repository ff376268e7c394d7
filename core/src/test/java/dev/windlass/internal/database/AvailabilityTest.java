package dev.windlass.internal.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.event.WindlassEvent;
import dev.windlass.internal.event.Events;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is told of outages, by a clock that the test sets. */
final class AvailabilityTest {
    private final List<WindlassEvent> heard = new ArrayList<>();
    private final Events events = new Events() {
        @Override
        public boolean areHeard() {
            return true;
        }

        @Override
        public void tell(WindlassEvent event) {
            heard.add(event);
        }
    };
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000);
    private final Availability availability = new Availability("shop", events, nanos::get);

    private void after(long millis) {
        nanos.addAndGet(Duration.ofMillis(millis).toNanos());
    }

    private void lost() {
        availability.lost("gone");
    }

    private void found() {
        availability.found(availability.now());
    }

    private static WindlassEvent began() {
        return new WindlassEvent.OutageBegan("shop", "gone");
    }

    private static WindlassEvent ended(long millis) {
        return new WindlassEvent.OutageEnded("shop", Duration.ofMillis(millis));
    }

    @Test
    void anAnswerOfAnotherConnectionThatIsDyingIsNoEnd() {
        lost();
        after(200);
        found();
        assertThat(availability.isAway()).isFalse();
        assertThat(heard).containsExactly(began());
        after(100);
        lost();
        after(5000);
        assertThat(heard).containsExactly(began());
        found();
        assertThat(heard).containsExactly(began(), ended(5300));
    }

    @Test
    void anAnswerToACallThatBeganBeforeTheLossIsNoEndHoweverLateItComes() {
        long before = availability.now();
        after(1);
        lost();
        after(60_000);
        availability.found(before);
        assertThat(heard).containsExactly(began());
        found();
        assertThat(heard).containsExactly(began(), ended(60_000));
    }

    @Test
    void brokenConnectionsThatAreFoundOneByOneAreNoFurtherOutage() {
        lost();
        after(2000);
        found();
        for (int i = 0; i < 10; i++) {
            after(2500);
            lost();
            after(10);
            found();
        }
        assertThat(heard).containsExactly(began(), ended(2000));
    }

    @Test
    void whatGoesOnAfterAnEndIsToldSoon() {
        lost();
        after(2000);
        found();
        after(100);
        for (int i = 0; i < 6; i++) {
            lost();
            after(1000);
        }
        assertThat(heard).containsExactly(began(), ended(2000), began());
        found();
        assertThat(heard).endsWith(ended(6000));
    }
}
