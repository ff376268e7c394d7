package dev.windlass.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.database.Proof;
import dev.windlass.internal.loop.Lookout;
import dev.windlass.internal.loop.Node;
import dev.windlass.internal.loop.Workers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class RestingTimersTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Lookout.Seen NOTHING =
            new Lookout.Seen(Optional.empty(), Optional.empty(), false, List.of(), Proof.NONE);

    /** It hears of none; those of its own process wake it. */
    @Test
    void aStoreThatRestsLooksForTimersAsSeldomAsForMessages() {
        Database looking = database.routines();
        try (Workers workers = new Workers()) {
            Node node = new Node(looking, looking, Node.Shared.none(workers), true, LONG);
            TimerHandOff handOff =
                    new TimerHandOff(looking, new TimerStore(looking, "outbox", "node"), 10, topics -> {}, node);
            assertThat(node.lookout().isResting()).isTrue();
            assertThat(handOff.sees(NOTHING)).isGreaterThan(LONG);
        }
    }
}
