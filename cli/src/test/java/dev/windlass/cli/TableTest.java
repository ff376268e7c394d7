package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TableTest {
    private static final String ID = "01a1e20e-330e-7001-856a-23e562150e2c";

    private static List<String> printed(int width, boolean isScreen) {
        Table table = new Table("ID", "TOPIC", "LOST", "AT", "ERROR");
        table.row(ID, "mail.send", "0", "2026-11-16T01:52:23Z", "x".repeat(500));
        table.row(ID, "order.placed", "0", "2026-11-16T01:52:23Z", "-");
        StringWriter text = new StringWriter();
        table.print(new Paper(new PrintWriter(text, true), width, isScreen));
        return text.toString().lines().toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 50, 60, 80, 100, 120, 200})
    void linesFitTheScreenAndIdentifiersStayWhole(int width) {
        List<String> lines = printed(width, true);
        assertThat(lines).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(width));
        assertThat(lines.stream().filter(line -> line.startsWith(ID))).hasSize(2);
        assertThat(String.join(" ", lines)).contains("mail.send", "order.placed");
    }

    @Test
    void onANarrowScreenColumnsThatSayNothingGoFirst() {
        assertThat(printed(108, true).get(0))
                .isEqualTo("ID                                    TOPIC         AT                    ERROR");
        assertThat(printed(50, true))
                .startsWith(ID, "  topic mail.send, at 2026-11-16T01:52:23Z")
                .endsWith(ID, "  topic order.placed, at 2026-11-16T01:52:23Z");
    }

    @Test
    void numbersStandAtTheRightAndTheTextBehindThemIsCut() {
        Table table = Table.ofNumbersAndText("STORE", "READY", "DUE", "PROBLEM");
        table.row("north", "10000+", "0", "-");
        table.row("south", "7", "-", "unreachable: " + "x".repeat(30));
        StringWriter text = new StringWriter();
        table.print(new Paper(new PrintWriter(text, true), 46, true));
        assertThat(text.toString().lines())
                .containsExactly(
                        "STORE   READY  PROBLEM", "north  10000+  -", "south       7  unreachable: xxxxxxxxxxxxxxx...");
    }

    @Test
    void inAFileARowIsALine() {
        assertThat(printed(Paper.WIDTH_OF_A_FILE, false)).hasSize(3);
        assertThat(printed(40, false)).hasSize(3);
    }

    @Test
    void theWidthIsTheExportedOneOrTheTerminals() {
        assertThat(page(Map.of("COLUMNS", "50"), true)).isEqualTo("50 true");
        assertThat(page(Map.of("COLUMNS", "50"), false)).isEqualTo("50 true");
        assertThat(page(Map.of("COLUMNS", "wide"), true)).isEqualTo("77 true");
        assertThat(page(Map.of(), false)).isEqualTo("160 false");
    }

    private static String page(Map<String, String> environment, boolean isThere) {
        Paper page = Paper.of(new PrintWriter(new StringWriter()), environment, new Terminal() {
            @Override
            public boolean isThere() {
                return isThere;
            }

            @Override
            public OptionalInt columns() {
                return OptionalInt.of(77);
            }

            @Override
            public boolean confirms(String question) {
                return false;
            }

            @Override
            public Optional<String> password(String prompt) {
                return Optional.empty();
            }
        });
        return page.width() + " " + page.isScreen();
    }
}
