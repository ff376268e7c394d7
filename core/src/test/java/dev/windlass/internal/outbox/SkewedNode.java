package dev.windlass.internal.outbox;

import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxWorkItemIdentifier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;

/** The program of a child process whose clock is wrong: lets every verb write a time, and tells what its own clock says. */
public final class SkewedNode {

    private SkewedNode() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        CountDownLatch handled = new CountDownLatch(1);
        try (Windlass windlass = Windlass.on(source)
                .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                .outboxHandler("handled", message -> handled.countDown())
                .start()) {
            System.out.println("clock " + Instant.now());
            byHand(windlass.outbox());
            windlass.outbox().enqueue(OutboxEntry.of("handled", "handled"));
            handled.await();
        }
        System.out.println("done");
    }

    private static void byHand(Outbox outbox) {
        outbox.enqueueAll(Stream.of("claimed", "renewed", "abandoned", "acked")
                .map(payload -> OutboxEntry.of("by hand", payload))
                .toList());
        OwnerToken owner = OwnerToken.fresh();
        for (OutboxMessage message : outbox.claim(owner, Duration.ofMinutes(5), 10)) {
            List<OutboxWorkItemIdentifier> id = List.of(message.id());
            switch (message.payload()) {
                case "renewed" -> outbox.heartbeat(owner, id, Duration.ofMinutes(10));
                case "abandoned" -> outbox.abandon(owner, id, Duration.ofMinutes(20), "busy");
                case "acked" -> outbox.ack(owner, id);
                default -> {}
            }
        }
        outbox.enqueue(OutboxEntry.of("by hand", "delayed").withDelay(Duration.ofDays(1)));
    }
}
