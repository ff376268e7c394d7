package dev.windlass.node;

import dev.windlass.Windlass;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The program of a child process: one node that handles topic {@code a} until its input ends, and tells what it does, line by
 * line. The payload says how the handler behaves.
 */
public final class ChildNode {

    private ChildNode() {}

    public static void main(String[] arguments) throws IOException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        OutboxOptions outbox = OutboxOptions.defaults()
                .withLease(Duration.ofMillis(Long.parseLong(arguments[3])))
                .withConcurrency(4)
                .withMaxLeaseExpiries(3);
        RetryPolicy quick = new RetryPolicy(100, Duration.ofMillis(1), Duration.ofMillis(10), 0);
        try (Windlass windlass = Windlass.on(source)
                .options(WindlassOptions.defaults()
                        .withSchemaName(arguments[2])
                        .withShutdownGrace(Duration.ofMillis(200)))
                .outbox(outbox)
                .outboxHandler("a", HandlerOptions.defaults().withRetry(quick), ChildNode::handle)
                .start()) {
            say("started " + windlass.isRunning());
            while (System.in.read() >= 0) {
                // Whatever comes: only the end counts.
            }
        }
        say("closed");
    }

    private static void handle(OutboxMessage message) throws InterruptedException {
        Interval interval = Interval.begin(message.id().value());
        switch (message.payload()) {
            case "halt" -> Runtime.getRuntime().halt(3);
            case "hang" -> {
                say("hanging");
                new CountDownLatch(1).await();
            }
            default -> LockSupport.parkNanos(1_000_000);
        }
        say(interval.end().toString());
        say("thread " + Thread.currentThread().getClass().getName());
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
