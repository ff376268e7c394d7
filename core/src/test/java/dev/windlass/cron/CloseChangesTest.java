package dev.windlass.cron;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Clocks that are changed several times in a day, as no zone on earth has it yet. Expected is what somebody sees who watches
 * the clock: a local time counts when it is shown for the first time, or when the clock jumps over it.
 */
final class CloseChangesTest {
    private static final long FROM = Instant.parse("2025-06-09T00:00:00Z").getEpochSecond();
    private static final long TO = Instant.parse("2025-06-13T00:00:00Z").getEpochSecond();

    private final long seed = Long.getLong("windlass.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @Test
    void everyLocalTimeCountsOnceForJobsAtAFixedTime() {
        for (int i = 0; i < 400; i++) {
            ZoneRules rules = someRules();
            String text = "0 " + numbers(3, 60) + " " + numbers(1 + random.nextInt(10), 24) + " * * *";
            assertRuns(text, false, rules, watchFixed(new Oracle(text), rules));
        }
    }

    @Test
    void everyMomentCountsForIntervalJobs() {
        for (int i = 0; i < 400; i++) {
            ZoneRules rules = someRules();
            String text = "0 */" + (1 + random.nextInt(59)) + " * * * *";
            assertRuns(text, true, rules, watchInterval(new Oracle(text), rules));
        }
    }

    private void assertRuns(String text, boolean interval, ZoneRules rules, Set<Long> expected) {
        Fields fields = Parser.parse(text);
        assertThat(fields.interval()).isEqualTo(interval);
        Timeline timeline = new Timeline(new LocalTimes(fields.days(), fields.times()), interval, rules);
        List<Long> forward = new ArrayList<>();
        long run = timeline.first(FROM);
        while (run < TO && forward.size() <= expected.size()) {
            forward.add(run);
            run = timeline.first(run + 1);
        }
        List<Long> backward = new ArrayList<>();
        run = timeline.last(TO - 1);
        while (run >= FROM && backward.size() <= expected.size()) {
            backward.add(0, run);
            run = timeline.last(run - 1);
        }
        assertThat(forward)
                .as("%s with %s, seed %d", text, rules.getTransitions(), seed)
                .isEqualTo(List.copyOf(expected));
        assertThat(backward).isEqualTo(forward);
    }

    private static Set<Long> watchFixed(Oracle oracle, ZoneRules rules) {
        Set<Long> runs = new TreeSet<>();
        int offset = offset(rules, FROM);
        long reached = FROM + offset;
        for (long minute = FROM; minute < TO; minute += 60) {
            int now = offset(rules, minute);
            for (; reached < minute + now; reached += 60) {
                if (matches(oracle, reached)) {
                    runs.add(reached - offset);
                }
            }
            if (reached == minute + now) {
                if (matches(oracle, reached)) {
                    runs.add(minute);
                }
                reached += 60;
            }
            offset = now;
        }
        return runs;
    }

    private static Set<Long> watchInterval(Oracle oracle, ZoneRules rules) {
        Set<Long> runs = new TreeSet<>();
        for (long minute = FROM; minute < TO; minute += 60) {
            if (matches(oracle, minute + offset(rules, minute))) {
                runs.add(minute);
            }
        }
        return runs;
    }

    private static boolean matches(Oracle oracle, long local) {
        return oracle.matches(LocalDateTime.ofEpochSecond(local, 0, ZoneOffset.UTC));
    }

    private static int offset(ZoneRules rules, long second) {
        return rules.getOffset(Instant.ofEpochSecond(second)).getTotalSeconds();
    }

    /** Two to five changes of up to six hours, on the second and third of four days. */
    private ZoneRules someRules() {
        ZoneOffset first = someOffset(ZoneOffset.MAX);
        ZoneOffset offset = first;
        long time = FROM + 86_400;
        List<ZoneOffsetTransition> changes = new ArrayList<>();
        for (int i = 2 + random.nextInt(4); i > 0; i--) {
            time += 900L * (1 + random.nextInt(20));
            ZoneOffset next = someOffset(offset);
            changes.add(ZoneOffsetTransition.of(LocalDateTime.ofEpochSecond(time, 0, offset), offset, next));
            offset = next;
        }
        return ZoneRules.of(first, first, List.of(), changes, List.of());
    }

    private String numbers(int count, int bound) {
        return random.ints(count, 0, bound).mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    private ZoneOffset someOffset(ZoneOffset other) {
        ZoneOffset offset = ZoneOffset.ofTotalSeconds(900 * (random.nextInt(25) - 12));
        return offset.equals(other) ? someOffset(other) : offset;
    }
}
