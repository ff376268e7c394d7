package dev.windlass.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.TestDatabase;
import dev.windlass.Windlass;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Limits while the server ends sessions in the middle of claims and acks. */
class PostgresLimitKillTest {
    private static final int RACERS = 32;

    @RegisterExtension
    static final TestDatabase database = new TestDatabase();

    @Test
    void theLimitsAreExactWhileSessionsAreEndedInTheMiddle() throws Exception {
        Windlass windlass = database.start(database.windlass()
                .options(database.options().withBackgroundWorkers(false))
                .work(WorkConformance.OPTIONS));
        LimitRace race = new LimitRace(database, windlass.workQueue(), 100);
        List<Callable<Boolean>> all = new ArrayList<>(race.racers(RACERS));
        int[] killed = {0};
        all.add(() -> {
            while (!race.isOver()) {
                killed[0] += kill();
            }
            return true;
        });

        WorkConformance.together(all);

        assertThat(race.violations()).isEmpty();
        assertThat(race.looks()).isPositive();
        assertThat(killed[0]).isPositive();
    }

    /** One that is at work on the queue at this moment. */
    private static int kill() throws InterruptedException {
        Thread.sleep(15); // or nothing else is done
        return database.rows("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
                        + " and state = 'active' and query like '%%s.\"work_claim\"%' limit 1")
                .size();
    }
}
