package dev.windlass.internal.join;

import static dev.windlass.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Child;
import dev.windlass.Shows;
import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.Joins;
import dev.windlass.outbox.OutboxEntry;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Joins whose steps are handled by processes that die, of themselves or killed, wherever they are. The seed makes the same choices, if
 * not the same interleaving; give it as the system property {@code windlass.seed}.
 */
final class JoinCrashTest {
    private static final int PROCESSES = 3;
    private static final int OUTER = 15;
    private static final String LEASE = "1000";

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    private final long seed = Long.getLong("windlass.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final List<Child> children = new ArrayList<>();
    private int deaths;

    /** Handled messages may be deleted; what was ever written is noted here. */
    @BeforeEach
    void noteWhatFollows() throws SQLException {
        database.execute("""
                create table %s.followed (id uuid, topic text);
                grant insert on %s.followed to windlass_runtime;
                create function %s.note() returns trigger language plpgsql as $$
                begin
                    insert into %s.followed values (new.id, new.topic);
                    return null;
                end $$;
                create trigger note after insert on %s.outbox for each row
                    when (new.correlation_id like 'join-%') execute function %s.note()
                """);
    }

    @AfterEach
    void stop() throws Exception {
        for (Child child : children) {
            child.kill();
        }
        database.execute("drop function %s.note cascade; drop table %s.followed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"P1D", "PT0S"})
    @Shows({"OBX-033", "OBX-034", "OBX-093"})
    void everyJoinEndsOnceWhoeverDies(String retention) throws Exception {
        Windlass windlass = database.passive();
        Joins joins = windlass.joins();
        FollowUp last = FollowUp.completed("done", "").withFailed("undone", "");
        for (int i = 0; i < OUTER; i++) {
            JoinIdentifier outer = joins.start(JoinEntry.of(3).withFollowUp(last));
            FollowUp inner = FollowUp.completed("inner", "").withStepOf(outer);
            windlass.outbox().fanOut(JoinEntry.of(4).withFollowUp(inner), JoinsConformance.steps(4));
            windlass.outbox().fanOut(JoinEntry.of(4).withFollowUp(FollowUp.stepOf(outer)), JoinsConformance.steps(4));
            windlass.outbox().enqueue(OutboxEntry.of("step", "").withJoin(outer));
        }

        eventually().atMost(Duration.ofMinutes(4)).until(() -> {
            replaceTheDead(retention);
            return pending() == 0;
        });

        assertThat(deaths).as("seed %s", seed).isPositive();
        assertThat(database.rows("select status, completed_steps, failed_steps, members - expected_steps, count(*)"
                        + " from %s.windlass_join group by 1, 2, 3, 4 order by 2"))
                .as("seed %s", seed)
                .containsExactly("1 3 0 0 " + OUTER, "1 4 0 0 " + 2 * OUTER);
        assertThat(database.rows(
                        "select topic, count(*), count(distinct id) from %s.followed group by topic order by topic"))
                .as("seed %s", seed)
                .containsExactly("done " + OUTER + " " + OUTER, "inner " + OUTER + " " + OUTER);
    }

    private static long pending() {
        return database.value(Long.class, "select count(*) from %s.windlass_join where status = 0");
    }

    /** And kills one now and then that is at work. */
    private void replaceTheDead(String retention) throws IOException, InterruptedException {
        if (random.nextInt(30) == 0) {
            for (Child child : children) {
                if (child.said("started") && child.isAlive()) {
                    child.kill();
                    break;
                }
            }
        }
        deaths += (int) children.stream().filter(child -> !child.isAlive()).count();
        children.removeIf(child -> !child.isAlive());
        while (children.size() < PROCESSES) {
            children.add(Child.start(StepNode.class, database, LEASE, Long.toString(random.nextLong()), retention));
        }
    }
}
