package dev.windlass.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.embedded.EmbeddedPostgres;
import dev.windlass.join.FollowUp;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.testkit.WindlassExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class JoinsCommandTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private static final EmbeddedPostgres SERVER = EmbeddedPostgres.shared();

    private final Windlass windlass = database.windlass()
            .options(database.options().withBackgroundWorkers(false))
            .start();

    @AfterEach
    void close() {
        windlass.close();
    }

    private static Ran joins(String... arguments) {
        List<String> all = new ArrayList<>(List.of("joins"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", SERVER.jdbcUrl(), "--user", SERVER.user(), "--schema", database.schema()));
        return Ran.windlass(all.toArray(String[]::new));
    }

    private JoinIdentifier started(String key) {
        return windlass.outbox()
                .fanOut(
                        JoinEntry.of(3)
                                .withGroupingKey(key)
                                .withMetadata("some words")
                                .withFollowUp(FollowUp.completed("next", "secret")),
                        List.of(OutboxEntry.of("step", "secret")));
    }

    @Test
    void listShowsTheLatestFirst() {
        JoinIdentifier first = started("a");
        JoinIdentifier second = started("b\u001b[31m");
        windlass.joins().reportFailed(second, UUID.randomUUID());
        windlass.joins().cancel(first);

        Ran ran = joins("list");

        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out().lines())
                .satisfiesExactly(
                        head -> assertThat(head).matches("ID +KEY +CREATED +STATE +STEPS +COMPLETED +FAILED"),
                        b -> assertThat(b).matches(second + " +b \\[31m +\\S+Z +pending +3 +0 +1"),
                        a -> assertThat(a).matches(first + " +a +\\S+Z +cancelled +3 +0 +0"));
        assertThat(joins("list", "--key", "a").out()).contains(first.toString()).doesNotContain(second.toString());
        assertThat(joins("list", "--state", "pending").out())
                .contains(second.toString())
                .doesNotContain(first.toString());
        assertThat(joins("list", "--key", "c").out()).isEqualTo("no joins" + System.lineSeparator());
    }

    @Test
    void thePageBelowTellsHowToGoOn() {
        started("a");
        started("a");

        Ran first = joins("list", "--key", "a", "--limit", "1");
        String position = first.out().lines().toList().get(2).replaceAll(".* --after ", "");

        assertThat(first.out()).contains("next page: windlass joins list").contains("--key a");
        assertThat(joins("list", "--key", "a", "--limit", "1", "--after", position)
                        .out()
                        .lines())
                .hasSize(3);
        assertThat(joins("list", "--after", "nonsense").err()).contains("expected a position that a list printed");
    }

    @Test
    void showTellsTheStepsAndNoPayload() {
        JoinIdentifier join = started("a");
        windlass.joins().reportCompleted(join, UUID.randomUUID());

        Ran ran = joins("show", join.toString());

        assertThat(ran.out())
                .contains("some words", "outbox", "reported", "any failed step")
                .containsPattern("steps +3\\s+attached +2\\s+completed +1")
                .doesNotContain("secret");
        Ran json = joins("show", "--json", join.toString());
        assertThat(Json.read(json.out()).get("steps")).hasSize(2);
        assertThat(Json.read(json.out()).get("completedSteps").asInt()).isEqualTo(1);
    }

    @Test
    void cancelEndsWhatIsPending() {
        JoinIdentifier join = started("a");

        assertThat(joins("cancel", join.toString()).out()).startsWith("cancelled join " + join);

        assertThat(windlass.joins().find(join).orElseThrow().status()).isEqualTo(JoinStatus.CANCELLED);
        JoinIdentifier ended = windlass.joins().start(JoinEntry.of(1));
        windlass.joins().reportCompleted(ended, UUID.randomUUID());
        Ran late = joins("cancel", ended.toString());
        assertThat(late.exitCode()).isEqualTo(1);
        assertThat(late.err()).contains("expected a join that is pending, got one that has ended");
    }

    @Test
    void theBenchRunsAndSaysHowMuchMoreAJoinTakes() {
        Ran ran = Ran.windlass(
                "bench",
                "joins",
                "--members",
                "20",
                "--rounds",
                "1",
                "--url",
                SERVER.jdbcUrl(),
                "--user",
                SERVER.user());

        assertThat(ran.out()).matches("20 messages written and handled: \\S+ s; as members .*, \\S+ times\\R");
        assertThat(Ran.windlass("bench", "joins", "--members", "0").err())
                .contains("expected at least one member and one round, got 0 and 5");
    }

    @Test
    void whatIsNotThereIsSaidInOneSentence() {
        UUID unknown = UUID.randomUUID();
        for (String verb : List.of("show", "cancel")) {
            Ran ran = joins(verb, unknown.toString());
            assertThat(ran.exitCode()).isEqualTo(1);
            assertThat(ran.err())
                    .contains("expected a join with id " + unknown + ", found none")
                    .hasLineCount(1);
            assertThat(joins(verb, "x").err()).contains("expected");
        }
        assertThat(joins("list", "--state", "odd").exitCode()).isEqualTo(2);
    }
}
