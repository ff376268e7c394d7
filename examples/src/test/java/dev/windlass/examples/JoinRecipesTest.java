package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.PermanentFailure;
import dev.windlass.join.JoinEntry;
import dev.windlass.join.JoinIdentifier;
import dev.windlass.join.JoinStatus;
import dev.windlass.testkit.WindlassExtension;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class JoinRecipesTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    private final List<String> topics = new CopyOnWriteArrayList<>();

    private Windlass start(String failing) {
        WindlassBuilder builder = database.windlass();
        for (String topic : List.of(
                "extract.customers",
                "extract.orders",
                "extract.products",
                "etl.transform",
                "etl.failed",
                "report.send")) {
            builder.outboxHandler(topic, message -> {
                topics.add(topic);
                if (topic.equals(failing)) {
                    throw new PermanentFailure("no such customer");
                }
            });
        }
        return database.start(builder);
    }

    @Test
    void whenAllExtractionsAreDoneTheTransformationFollows() throws Exception {
        Windlass windlass = start("none");
        JoinIdentifier join = windlass.inTransaction(connection -> JoinRecipes.fanOut(windlass, connection, "Ada"));
        database.drain();

        assertThat(topics.subList(0, 3))
                .containsExactlyInAnyOrder("extract.customers", "extract.orders", "extract.products");
        assertThat(topics.subList(3, topics.size())).containsExactly("etl.transform");
        assertThat(windlass.joins().find(join).orElseThrow().status()).isEqualTo(JoinStatus.COMPLETED);
        assertThat(JoinRecipes.look(windlass, "Ada")).isEqualTo("COMPLETED, 0 to go\n");
    }

    @Test
    void whenOneFailsThatFollows() throws Exception {
        Windlass windlass = start("extract.orders");
        windlass.inTransaction(connection -> JoinRecipes.fanOut(windlass, connection, "Bob"));
        database.drain();

        assertThat(topics).contains("etl.failed").doesNotContain("etl.transform");
        assertThat(JoinRecipes.look(windlass, "Bob")).isEqualTo("FAILED, 0 to go\n");
    }

    @Test
    void stepsCanBeAttachedOneByOne() {
        Windlass windlass = start("none");
        JoinRecipes.stepByStep(windlass, "Eve");
        database.drain();
        assertThat(topics).containsExactlyInAnyOrder("extract.orders", "extract.products", "etl.transform");
    }

    @Test
    void joinsCanBeStepsOfJoins() {
        Windlass windlass = start("none");
        JoinRecipes.nested(windlass, List.of("Ada", "Bob"));
        database.drain();
        assertThat(topics).hasSize(5).endsWith("report.send");
    }

    @Test
    void aStepCanBeReportedAndAJoinCancelled() {
        Windlass windlass = database.start(JoinRecipes.handle(database.windlass(), topics::add));
        JoinIdentifier join = JoinRecipes.stepByStep(windlass, "Kim");
        UUID upload = UUID.randomUUID();
        assertThat(JoinRecipes.cancel(windlass, join)).isTrue();
        JoinIdentifier other = windlass.joins().start(JoinEntry.of(1));
        JoinRecipes.report(windlass, other, upload);
        assertThat(windlass.joins().find(other).orElseThrow().status()).isEqualTo(JoinStatus.COMPLETED);
    }
}
