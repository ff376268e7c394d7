package dev.windlass.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A trigger of the user's own may refuse what Windlass writes. */
final class RefusedOutcomeTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void anOutcomeThatTheDatabaseRefusesDoesNotHoldUpTheOthers() throws Exception {
        database.execute("""
                create function %s.refuse() returns trigger language plpgsql as $$
                begin
                    raise exception 'refused';
                end $$;
                create trigger refuse before update on %s.outbox for each row
                    when (new.status = 2 and new.payload = 'bad') execute function %s.refuse()
                """);
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {}));
        List<OutboxEntry> entries = IntStream.range(0, 100)
                .mapToObj(i -> OutboxEntry.of("a", i % 50 == 7 ? "bad" : "good"))
                .toList();

        windlass.outbox().enqueueAll(entries);
        windlass.outbox().enqueueAll(entries);

        eventually().until(() -> database.count("status = 2") == 196);
        assertThat(database.count("status = 2 and payload = 'bad'")).isZero();
    }
}
