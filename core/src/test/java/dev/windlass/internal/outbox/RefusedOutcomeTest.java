package dev.windlass.internal.outbox;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.windlass.Logs;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.outbox.OutboxEntry;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A trigger of the user's own may refuse what Windlass writes. */
final class RefusedOutcomeTest {
    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private static final String TRIGGER = """
                create function %s.refuse() returns trigger language plpgsql as $$
                begin
                    raise exception 'refused' using errcode = 'P0001';
                end $$;
                create trigger refuse before update on %s.outbox for each row
                    when (new.status = 2 and new.payload = 'bad') execute function %s.refuse()
            """;

    @BeforeEach
    void refuseSome() throws Exception {
        database.execute(TRIGGER);
    }

    @AfterEach
    void refuseNone() throws Exception {
        database.execute("drop function %s.refuse cascade");
    }

    @Test
    void anOutcomeThatTheDatabaseRefusesDoesNotHoldUpTheOthers() throws Exception {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {}));
        List<OutboxEntry> entries = IntStream.range(0, 100)
                .mapToObj(i -> OutboxEntry.of("a", i % 50 == 7 ? "bad" : "good"))
                .toList();

        try (Logs logs = Logs.collect(Level.ERROR)) {
            windlass.outbox().enqueueAll(entries);
            windlass.outbox().enqueueAll(entries);

            eventually().until(() -> database.count("status = 2") == 196);
            assertThat(database.count("status = 2 and payload = 'bad'")).isZero();
            eventually().until(() -> logs.count(Level.ERROR, "refuses the outcome of message") > 0);
            assertThat(logs.at(Level.ERROR)).first().asString().contains("of topic a", "SQLSTATE P0001");
        }
    }

    /** As trouble of the whole database sounds. */
    @ParameterizedTest
    @ValueSource(strings = {"40001", "53400", "57014"})
    void anOutcomeThatIsRefusedWithAStateThatMayPassHoldsUpNoOtherAndIsWrittenInTheEnd(String state) throws Exception {
        refuseNone();
        database.execute(TRIGGER.replace("P0001", state));
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {}));

        try (Logs logs = Logs.collect(Level.WARN)) {
            windlass.outbox()
                    .enqueueAll(IntStream.range(0, 100)
                            .mapToObj(i -> OutboxEntry.of("a", i == 7 ? "bad" : "good"))
                            .toList());

            eventually().until(() -> database.count("status = 2") == 99);
            eventually().until(() -> logs.count(Level.WARN, "refuses the outcome of message") == 1);
        }
        database.execute("drop trigger refuse on %s.outbox");
        eventually().until(() -> database.count("status = 2") == 100);
        assertThat(database.count("lease_expiries > 0")).isZero();
    }

    @Test
    void aRefusedOutcomeOfAMessageThatRunsAloneDoesNotStopTheNode() throws Exception {
        Windlass windlass = database.start(database.windlass().outboxHandler("a", message -> {}));
        database.execute("insert into %s.outbox (id, created_at, next_attempt_at, topic, payload, lease_expiries)"
                + " values (gen_random_uuid(), now(), now(), 'a', 'bad', 2)");
        windlass.wakeUp();
        eventually().until(() -> database.count("status = 1 and payload = 'bad'") == 1);

        windlass.outbox().enqueue(OutboxEntry.of("a", "good"));

        eventually().until(() -> database.count("status = 2 and payload = 'good'") == 1);
    }
}
