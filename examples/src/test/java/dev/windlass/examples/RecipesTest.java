package dev.windlass.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.windlass.Windlass;
import dev.windlass.WindlassBuilder;
import dev.windlass.base.PermanentFailure;
import dev.windlass.base.WorkStatus;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import dev.windlass.testkit.WindlassExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

final class RecipesTest {
    @RegisterExtension
    static final WindlassExtension database = WindlassExtension.create();

    @Test
    void aMessageIsWrittenAlone() {
        Windlass windlass = database.start(database.windlass());
        assertThat(windlass.outbox().find(Recipes.alone(windlass))).isPresent();
    }

    @Test
    void aMessageIsWrittenInATransactionOfWindlass() throws Exception {
        Run.execute("create table customers as select 7 as id, 'Bob' as name");
        assertThat(Recipes.inTransaction(database.start(database.windlass()), 7, "Ada"))
                .isEqualTo(1);
        assertThat(Run.text("select name from customers")).isEqualTo("Ada");
        assertThat(database.messages("customer.renamed")).hasSize(1);
        Run.execute("drop table customers");
    }

    @Test
    void manyMessagesAreHandledWithOptions() {
        Windlass windlass = database.start(Recipes.options(database.windlass()));
        Recipes.many(windlass, List.of("ada@example.org", "bob@example.org"));
        database.drain();
        assertThat(database.messages("newsletter.send")).hasSize(2).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void aHandlerThatRestsWhenEverythingFailsHandlesWhatDoesNot() {
        Windlass windlass = database.start(Recipes.resting(database.windlass()));
        windlass.outbox().enqueue(OutboxEntry.of("order.published", "7"));
        database.drain();
        assertThat(database.messages("order.published")).hasSize(1).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void aTransferWaitsUntilTheBankIsOpen() {
        AtomicBoolean open = new AtomicBoolean();
        Windlass windlass = database.start(Recipes.notYet(database.windlass(), open::get));
        windlass.outbox().enqueue(OutboxEntry.of("transfer.wanted", "7"));
        database.drain();
        assertThat(database.messages("transfer.wanted"))
                .singleElement()
                .matches(message -> !message.isProcessed() && message.retryCount() == 0);
        open.set(true);
        database.advance(Duration.ofMinutes(10));
        database.drain();
        assertThat(database.messages("transfer.wanted")).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void aHandlerWhoseMessageIsHeldInOvertimeHandlesIt() {
        Windlass windlass = database.start(Recipes.overtime(database.windlass()));
        windlass.outbox().enqueue(OutboxEntry.of("account.closed", "7"));
        database.drain();
        assertThat(database.messages("account.closed")).hasSize(1).allMatch(OutboxMessage::isProcessed);
    }

    @Test
    void messagesCanBeDueLaterAndExpire() {
        Windlass windlass = database.start(database.windlass()
                .outboxHandler("reminder.due", message -> {})
                .outboxHandler("report.wanted", message -> {}));
        Recipes.later(windlass, Instant.now().plus(Duration.ofDays(2)));
        Recipes.expiring(windlass, Instant.now().plus(Duration.ofDays(1)));

        database.advance(Duration.ofDays(3));
        database.drain();

        assertThat(database.messages("reminder.due")).allMatch(OutboxMessage::isProcessed);
        assertThat(database.messages("report.wanted")).allMatch(OutboxMessage::isProcessed);
        assertThat(database.messages("line-up.announced"))
                .extracting(OutboxMessage::status)
                .containsExactly(WorkStatus.FAILED);
    }

    @Test
    void messagesOfAKeyComeInTurnOverTopics() {
        List<String> handled = new CopyOnWriteArrayList<>();
        Windlass windlass = database.start(Recipes.failedHead(database.windlass())
                .outboxHandler("order.placed", message -> handled.add(message.topic()))
                .outboxHandler("order.cancelled", message -> handled.add(message.topic())));
        Recipes.ordered(windlass);
        database.drain();
        assertThat(handled).containsExactly("order.placed", "order.cancelled");
    }

    @Test
    void aMessageIsWrittenOnce() {
        Windlass windlass = database.start(database.windlass());
        assertThat(Recipes.once(windlass)).isEqualTo(Recipes.once(windlass));
        assertThat(database.messages("invoice.wanted")).hasSize(1);
    }

    @Test
    void aMessageIsMovedAndCancelled() {
        Windlass windlass = database.start(database.windlass());
        OutboxMessageIdentifier reminder = Recipes.alone(windlass);
        assertThat(Recipes.cancel(windlass, reminder, Instant.now())).isTrue();
        assertThat(windlass.outbox().find(reminder).orElseThrow().status()).isEqualTo(WorkStatus.CANCELLED);
    }

    @Test
    void deadLettersAreRequeuedAndErasedAndTopicsPaused() {
        AtomicBoolean broken = new AtomicBoolean(true);
        Windlass windlass = database.start(database.windlass().outboxHandler("invoice.wanted", message -> {
            if (broken.get()) {
                throw new PermanentFailure("the printer timed out");
            }
        }));
        OutboxMessageIdentifier id = Recipes.once(windlass);
        database.drain();
        broken.set(false);
        assertThat(Recipes.deadLetters(windlass)).isEqualTo(1);
        assertThat(Recipes.pause(windlass)).isTrue();
        database.drain();
        assertThat(database.messages("invoice.wanted")).allMatch(OutboxMessage::isProcessed);
        assertThat(Recipes.erase(windlass, id)).isEqualTo(1);
        assertThat(windlass.outbox().find(id).orElseThrow().payload()).isEmpty();
    }

    @Test
    void correlationIdAndHeadersComeBack() {
        Recipes.annotated(database.start(database.windlass()), "00-1-2-01");
        OutboxMessage message = database.messages("order.placed").get(0);
        assertThat(message.correlationId()).contains("order-7");
        assertThat(message.headers()).containsEntry("traceparent", "00-1-2-01");
    }

    @Test
    void aHandlerThatAsksForCancellationFinishes(@TempDir Path directory) {
        Windlass windlass = database.start(Recipes.cancellable(database.windlass(), directory));
        windlass.outbox().enqueue(OutboxEntry.of("export.wanted", ""));
        database.drain();
        assertThat(directory.toFile().list()).hasSize(100);
    }

    @Test
    void theOptionsOfTheRecipesStart() {
        String grants = Recipes.migrate(database.dataSource());
        assertThat(grants).contains("grant").contains("\"app\"");
        for (WindlassBuilder builder : List.of(
                Recipes.retention(Windlass.on(database.dataSource())),
                Recipes.onlyWrites(Windlass.on(database.dataSource())),
                Recipes.behindAPooler(database.dataSource(), database.dataSource()))) {
            assertThat(database.start(builder).isRunning()).isTrue();
        }
    }
}
