package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.WorkStatus;
import dev.windlass.inbox.Inbox;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.operator.MessageFilter;
import dev.windlass.testkit.WindlassExtension;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class InboxRecipesTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    @BeforeEach
    void createTable() throws SQLException {
        Run.execute("create table if not exists shipments (id text check (id <> 'bad'))");
    }

    @AfterEach
    void dropTable() throws SQLException {
        Run.execute("drop table shipments");
    }

    @Test
    void aMessageIsProcessedStepByStep() throws Exception {
        Windlass windlass = database.start(database.windlass());
        assertThat(InboxRecipes.stepByStep(windlass, "7")).isEqualTo("shipped");
        assertThat(InboxRecipes.stepByStep(windlass, "7")).isEqualTo("shipped before");
        assertThat(Run.text("select count(*) from shipments")).isEqualTo("1");
        assertThat(InboxRecipes.stepByStep(windlass, "bad")).isEqualTo("later");
        assertThat(InboxRecipes.stepByStep(windlass, "bad")).isEqualTo("later");
        assertThat(windlass.inbox().find("shipments", "bad").flatMap(SeenMessage::lastError))
                .contains("could not ship: 23514");
    }

    @Test
    void whoAsksFirstProcessesOnce() {
        Inbox inbox = database.start(database.windlass()).inbox();
        AtomicInteger sent = new AtomicInteger();
        InboxRecipes.asking(inbox, "7", sent::incrementAndGet);
        InboxRecipes.asking(inbox, "7", sent::incrementAndGet);
        assertThat(sent).hasValue(1);
        InboxRecipes.asking(inbox, "8", () -> {
            throw new IllegalArgumentException("no address");
        });
        assertThat(inbox.find("newsletters", "8").map(SeenMessage::status)).contains(WorkStatus.FAILED);
    }

    @Test
    void aMessageIsQueuedAndHandledOnce() {
        Windlass windlass = database.start(InboxRecipes.options(InboxRecipes.queue(database.windlass())));
        assertThat(InboxRecipes.enqueue(windlass.inbox(), "order-7", "7").isNew())
                .isTrue();
        await().until(() -> InboxRecipes.find(windlass.inbox())
                .filter(SeenMessage::isProcessed)
                .isPresent());
        assertThat(InboxRecipes.enqueue(windlass.inbox(), "order-7", "7").isNew())
                .isFalse();
    }

    @Test
    void manyMessagesAreHandledInOneTransaction() throws SQLException {
        Inbox inbox = database.start(InboxRecipes.together(database.windlass())).inbox();
        InboxRecipes.enqueue(inbox, "order-9", "9");
        await().until(() ->
                inbox.find("shop", "order-9").filter(SeenMessage::isProcessed).isPresent());
        assertThat(Run.text("select id from shipments")).isEqualTo("9");
    }

    @Test
    void aMessageWithAnObjectIsQueuedAndHandled() throws SQLException {
        WindlassBuilder builder = database.windlass();
        InboxRecipes.addHandler(builder);
        Inbox inbox = database.start(builder).inbox();
        InboxRecipes.enqueue(inbox, "order-8", new InboxRecipes.Shipment("8", 2));
        await().until(() ->
                inbox.find("shop", "order-8").filter(SeenMessage::isProcessed).isPresent());
        assertThat(Run.text("select id from shipments")).isEqualTo("8");
    }

    @Test
    void deadMessagesAreListedAndRevived() {
        Inbox inbox = database.start(database.windlass()).inbox();
        assertThat(inbox.alreadyProcessed("shop", "order-7")).isFalse();
        inbox.markDead("shop", "order-7", "no stock");
        assertThat(InboxRecipes.operate(inbox)).isEqualTo(2);
        assertThat(inbox.operator("anna").list(MessageFilter.failed(), 1)).isEmpty();
    }
}
