package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.operator.MessageFilter;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.TimerEntry;
import dev.windlass.schedule.TimerIdentifier;
import dev.windlass.testkit.WindlassExtension;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class TimerRecipesTest {
    private static final Instant LATER = Instant.parse("2100-01-04T09:00:00Z");

    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final List<String> mails = new CopyOnWriteArrayList<>();

    private Windlass start() {
        return database.start(TimerRecipes.handling(database.windlass(), mails::add));
    }

    @Test
    void aReminderIsSentAfterThreeDays() throws Exception {
        Windlass windlass = start();
        windlass.inTransaction(connection -> TimerRecipes.schedule(windlass, connection, "order 7"));

        database.advance(Duration.ofDays(2));
        database.drain();
        assertThat(mails).isEmpty();
        database.advance(Duration.ofDays(1));
        database.drain();
        assertThat(mails).containsExactly("order 7");
    }

    @Test
    void manyAreScheduledListedMovedAndCancelled() {
        Windlass windlass = start();
        List<TimerIdentifier> ids = TimerRecipes.many(windlass, List.of("ann", "bob", "cleo"), LATER);
        TimerRecipes.keepAlive(windlass, "s1");

        assertThat(TimerRecipes.look(windlass)).extracting(ListedTimer::id).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(TimerRecipes.postpone(windlass, ids.get(0), LATER.minusSeconds(60)))
                .isTrue();
        assertThat(TimerRecipes.look(windlass).get(0).id()).isEqualTo(ids.get(0));
        assertThat(TimerRecipes.cancel(windlass, ids.get(0), "s1")).isTrue();
        assertThat(windlass.timers().find("session.expired", "s1")).isEmpty();
    }

    @Test
    void aKeyHasOneTimer() {
        Windlass windlass = start();
        TimerRecipes.keepAlive(windlass, "s1");
        Instant first =
                windlass.timers().find("session.expired", "s1").orElseThrow().dueTime();
        TimerRecipes.keepAlive(windlass, "s1");
        assertThat(windlass.timers().find("session.expired", "s1").orElseThrow().dueTime())
                .isAfter(first);

        TimerRecipes.once(windlass, "a1");
        Instant digest =
                windlass.timers().find("digest.due", "a1").orElseThrow().dueTime();
        TimerRecipes.once(windlass, "a1");
        assertThat(windlass.timers().find("digest.due", "a1").orElseThrow().dueTime())
                .isEqualTo(digest);
    }

    @Test
    void aProgramHandlesTimersItself() {
        Windlass windlass = database.start(TimerRecipes.byHand(database.windlass()));
        windlass.timers().schedule(TimerEntry.of("a", "good", Duration.ZERO));
        windlass.timers().schedule(TimerEntry.of("a", "bad", Duration.ZERO));
        List<String> done = new ArrayList<>();

        TimerRecipes.claim(windlass, timer -> {
            if (timer.payload().equals("bad")) {
                throw new IllegalStateException("not yet");
            }
            done.add(timer.payload());
        });

        assertThat(done).containsExactly("good");
        List<ListedTimer> left = windlass.timers().operator("me").list(MessageFilter.all(), 10);
        assertThat(left).extracting(ListedTimer::retryCount).containsExactly(1);
        windlass.timers().cancel(left.get(0).id());
    }
}
