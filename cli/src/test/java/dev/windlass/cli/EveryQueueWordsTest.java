package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is wrong in the words is told before a database is asked, for every queue. */
final class EveryQueueWordsTest {

    @ParameterizedTest
    @EnumSource
    void whatCannotBeReadIsOneSentence(EveryQueueTest.Kind kind) {
        for (String[] wrong : new String[][] {
            {"requeue"},
            {"requeue", "--all", "--topic", "a"},
            {"purge"},
            {"cancel"},
            {"reschedule"},
            {"erase", "--yes"},
            EveryQueueTest.verb(kind, "requeue", " "),
            EveryQueueTest.verb(kind, "cancel", "a", "\u0000"),
            EveryQueueTest.verb(kind, "erase", ""),
            {"pause", " "},
            {"pause", "x".repeat(256)},
            {"resume", "a "},
            {"pause", "a", "--as", " "},
            {"pause", "a", "--reason", "x".repeat(2049)},
            {"pause", "a\u0000"},
            {"limit"},
            {"limit", "a"},
            {"limit", " ", "--running", "1"},
            {"limit", "a", "--running", "0"},
            {"limit", "a", "--running", "-1"},
            {"limit", "a", "--running", "1.5"},
            {"limit", "a", "--running", "99999999999"},
            {"limit", "a", "--per-key", "0"},
            {"limit", "a", "--rate", "5"},
            {"limit", "a", "--rate", "0/s"},
            {"limit", "a", "--rate", "5/0s"},
            {"limit", "a", "--rate", "5/s/s"},
            {"limit", "a", "--rate", "5/\u001b[31m"},
            {"limit", "a", "--rate", "5/999999999d"},
            {"limit", "a", "--rate", "5/s", "--none"},
            {"limit", "a", "--running", "1", "--as", " "},
            {"failed", "--after", "\u001b[31m/x/y"},
            {"actions", "--after", "7"},
            {"actions", "--limit", "0"},
            {"lst\u001b[31m"},
            {"list", "more"}
        }) {
            Ran ran = run(kind, wrong);
            assertThat(ran.exitCode()).as("%s: %s", List.of(wrong), ran.err()).isEqualTo(2);
            assertThat(ran.out()).isEmpty();
            assertThat(ran.err())
                    .startsWith("windlass: ")
                    .doesNotContain("\u001b", "\u0000")
                    .hasLineCount(2);
        }
    }

    private static Ran run(EveryQueueTest.Kind kind, String... arguments) {
        List<String> all = new ArrayList<>(List.of(kind.word));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", "jdbc:postgresql://nowhere.invalid/database"));
        return Ran.windlass(all.toArray(String[]::new));
    }
}
