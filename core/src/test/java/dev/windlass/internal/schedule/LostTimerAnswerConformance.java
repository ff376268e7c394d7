package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.windlass.OnEveryEngine;
import dev.windlass.Windlass;
import dev.windlass.base.WindlassException;
import dev.windlass.internal.outbox.LosingDataSource;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.schedule.Timers;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Timers whose writer does not learn that they were committed, and writes them again. */
@OnEveryEngine
final class LostTimerAnswerConformance extends TimerConformance {
    private LosingDataSource losing;
    private Timers unlucky;

    @BeforeEach
    void startAnUnluckyWriter() {
        losing = new LosingDataSource(database());
        unlucky = database()
                .start(Windlass.on(losing).options(database().options().withBackgroundWorkers(false)))
                .timers();
    }

    @Test
    void manyTimersAreWrittenOnceAlsoIfTheFirstFindsItsKeyTaken() {
        TimerIdentifier first =
                timers.schedule(TimerEntry.of("topic", "1", LATER).ifAbsent("key"));
        losing.loseAnswers(1);

        List<TimerIdentifier> stand = unlucky.scheduleAll(
                List.of(TimerEntry.of("topic", "2", LATER).ifAbsent("key"), TimerEntry.of("topic", "3", LATER)));

        assertThat(losing.left()).isZero();
        assertThat(count("outbox_timer")).isEqualTo(2);
        assertThat(stand.get(0)).isEqualTo(first);
        assertThat(timers.find(stand.get(1)).orElseThrow().payload()).isEqualTo("3");
    }

    @Test
    void theTimerThatStandsIsNamedWhereverItsEntryIs() {
        TimerIdentifier first =
                timers.schedule(TimerEntry.of("topic", "1", LATER).replacing("key"));
        losing.loseAnswers(1);

        List<TimerIdentifier> stand = unlucky.scheduleAll(List.of(
                TimerEntry.of("topic", "2", LATER),
                TimerEntry.of("topic", "3", LATER).replacing("key")));

        assertThat(losing.left()).isZero();
        assertThat(stand.get(1)).isEqualTo(first);
        assertThat(timers.find(first).orElseThrow().payload()).isEqualTo("3");
    }

    @Test
    void aSingleTimerIsWrittenOnceAlsoIfItHasBecomeAMessageMeanwhile() {
        losing.loseAnswers(1);
        TimerIdentifier id = unlucky.schedule(TimerEntry.of("topic", "1", PAST));
        assertThat(losing.left()).isZero();
        assertThat(timers.find(id)).isPresent();
        assertThat(count("outbox_timer")).isEqualTo(1);
    }

    @Test
    void aCancellationWhoseAnswerWasLostDoesNotGuess() {
        TimerIdentifier cancelled = timers.schedule(TimerEntry.of("topic", "1", LATER));
        losing.loseAnswers(1);
        assertThatThrownBy(() -> unlucky.cancel(cancelled))
                .isInstanceOf(WindlassException.class)
                .hasMessageContaining("could not tell whether it did cancel timer " + cancelled.value());
        assertThat(timers.find(cancelled)).isEmpty();

        TimerIdentifier delivered = timers.schedule(TimerEntry.of("topic", "2", PAST));
        handOff(10);
        losing.loseAnswers(1);
        assertThat(unlucky.cancel(delivered)).isFalse();

        timers.schedule(TimerEntry.of("topic", "3", LATER).replacing("key"));
        losing.loseAnswers(1);
        assertThatThrownBy(() -> unlucky.cancel("topic", "key")).isInstanceOf(WindlassException.class);
    }
}
