package dev.windlass.internal.join;

import dev.windlass.Windlass;
import dev.windlass.base.OwnerToken;
import dev.windlass.base.WindlassOptions;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxOptions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The program of a child process that handles steps until it dies: a node, and beside it a worker that claims by itself and acks in
 * transactions of its own. Either may die at any time; the worker likes to do so between the ack and its commit.
 */
public final class StepNode {
    private static final int ODDS = 50;

    private StepNode() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setUser(arguments[1]);
        source.setPassword(arguments[1]);
        Duration lease = Duration.ofMillis(Long.parseLong(arguments[3]));
        Random random = new Random(Long.parseLong(arguments[4]));
        try (Windlass windlass = Windlass.on(source)
                .options(WindlassOptions.defaults().withSchemaName(arguments[2]))
                .outbox(OutboxOptions.defaults()
                        .withLease(lease)
                        .withRetention(Duration.parse(arguments[5]))
                        .withMaxLeaseExpiries(1000))
                .outboxHandler("step", message -> mayDie(random))
                .outboxHandler("inner", message -> mayDie(random))
                .start()) {
            say("started");
            work(windlass, source, arguments[2], lease, random);
        }
    }

    private static void work(Windlass windlass, PGSimpleDataSource source, String schema, Duration lease, Random random)
            throws SQLException {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            while (true) {
                OwnerToken owner = OwnerToken.fresh();
                List<UUID> ids = windlass.outbox().claim(owner, lease, 5).stream()
                        .map(OutboxMessage::id)
                        .map(id -> id.value())
                        .toList();
                try (PreparedStatement ack =
                        connection.prepareStatement("select " + schema + ".outbox_ack(?, ?, p_keep => ?)")) {
                    ack.setArray(1, connection.createArrayOf("uuid", ids.toArray()));
                    ack.setArray(2, connection.createArrayOf("uuid", new UUID[] {owner.value()}));
                    ack.setBoolean(3, random.nextBoolean());
                    ack.execute();
                }
                mayDie(random);
                connection.commit();
                mayDie(random);
            }
        }
    }

    private static void mayDie(Random random) {
        if (random.nextInt(ODDS) == 0) {
            Runtime.getRuntime().halt(3);
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
