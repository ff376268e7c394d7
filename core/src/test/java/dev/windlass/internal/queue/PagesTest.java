package dev.windlass.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.windlass.internal.support.Place;
import dev.windlass.operator.Page;
import dev.windlass.operator.PagePosition;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PagesTest {
    private static final Instant AT = Instant.parse("2026-08-01T10:00:00.123456Z");
    private static final UUID ID = UUID.fromString("0197c3a2-8f10-7abc-9def-0123456789ab");

    private static Page<String> page(int limit) {
        return Pages.of("a list", List.of("1", "2"), limit, last -> Place.at(AT, ID, null, "it's / % \u001b ü", 7));
    }

    private static PagePosition next() {
        return page(2).next().orElseThrow();
    }

    @Test
    void aFullPageTellsWhereTheNextBeginsInATextThatCanBeGivenBack() {
        assertThat(page(3).next()).isEmpty();
        assertThat(page(2)).containsExactly("1", "2");
        Place place = Pages.after(new PagePosition(next().toString()), "a list");
        assertThat(place.instant(0)).isEqualTo(AT);
        assertThat(place.uuid(1)).isEqualTo(ID);
        assertThat(place.text(2)).isNull();
        assertThat(place.text(3)).isEqualTo("it's / % \u001b ü");
        assertThat(place.number(4)).isEqualTo(7);
        assertThat(place.integer(4)).isEqualTo(7);
        assertThat(place.integer(5)).isNull();
    }

    @Test
    void theTextNeedsNoQuotesAndHoldsNoControlCharacters() {
        assertThat(next().text()).matches("[\\w./:+%-]+");
    }

    @Test
    void aPositionOfAnotherListIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Pages.after(next(), "another list"))
                .withMessage("expected a position that a list of another list printed, got one of \"a list\";"
                        + " leave it out to begin at the start");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "x", "a+list/x/0", "0197c3a2-8f10-7abc-9def-0123456789ab", "\u001b[31m"})
    void whatNoListHasPrintedIsRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PagePosition(text))
                .withMessageMatching("expected a position that a list printed, got \"[^\\p{Cntrl}]*\";"
                        + " leave it out to begin at the start");
    }

    @Test
    void aPositionThatWasCutOffOrChangedIsRefused() {
        String text = next().text();
        for (int i = 0; i < text.length(); i++) {
            String cut = text.substring(0, i);
            String changed = cut + "~" + text.substring(i + 1);
            assertThatIllegalArgumentException().isThrownBy(() -> new PagePosition(cut));
            assertThatIllegalArgumentException().isThrownBy(() -> new PagePosition(changed));
        }
    }
}
