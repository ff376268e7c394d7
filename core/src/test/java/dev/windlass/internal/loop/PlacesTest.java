package dev.windlass.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Four places, two of which are for those who have none. */
final class PlacesTest {
    private final Places places = new Places(4, 2);
    private final List<String> started = new ArrayList<>();

    private void take(String owner) {
        places.take(owner, () -> started.add(owner));
    }

    @Test
    void oneOwnerDoesNotGetThemAll() {
        for (int i = 0; i < 4; i++) {
            take("a");
        }
        assertThat(started).containsExactly("a", "a");
        assertThat(places.areWanted()).isTrue();
        assertThat(places.hasFree("b")).as("others stand in line").isFalse();
        take("b");
        take("c");
        assertThat(started).containsExactly("a", "a", "b", "c");
    }

    @Test
    void whoHasNoneComesFirstThenWhoHasWaitedLongest() {
        for (String owner : List.of("a", "a", "b", "c", "a", "d", "b", "e")) {
            take(owner);
        }
        started.clear();
        places.giveBack("c");
        assertThat(started).containsExactly("d");
        places.giveBack("d");
        assertThat(started).containsExactly("d", "e");
        places.giveBack("e");
        assertThat(started).as("the last two are for those who have none").containsExactly("d", "e");
        places.giveBack("b");
        places.giveBack("a");
        assertThat(started).as("a has one, and waits for more").containsExactly("d", "e", "b");
    }

    @Test
    void whoIsForgottenStandsInLineNoMore() {
        for (String owner : List.of("a", "a", "b", "c", "d", "d")) {
            take(owner);
        }
        assertThat(places.forget("d")).isEqualTo(2);
        assertThat(places.areWanted()).isFalse();
        started.clear();
        places.giveBack("c");
        assertThat(started).isEmpty();
        assertThat(places.hasFree("d")).isTrue();
    }

    @Test
    void aNodeAloneHasAsManyAsItWants() {
        Places own = Places.unlimited();
        for (int i = 0; i < 1_000; i++) {
            own.take("a", () -> started.add("a"));
        }
        assertThat(started).hasSize(1_000);
        assertThat(own.areWanted()).isFalse();
    }
}
