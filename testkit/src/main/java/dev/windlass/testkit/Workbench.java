package dev.windlass.testkit;

import dev.windlass.base.PayloadCodec;
import dev.windlass.base.Topic;
import dev.windlass.internal.support.Require;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.outbox.OutboxMessageIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;

/**
 * What a test does with a schema of Windlass's, whoever runs the nodes there: it waits until their work is done, lets time pass, looks at messages.
 * {@link WindlassExtension} has one for each test class; tests of Spring Boot get theirs as a bean.
 */
public final class Workbench {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final DataSource dataSource;
    private final String schema;
    private final String outboxTable;
    private final Supplier<Outbox> outbox;
    private final Drain drain;

    /**
     * @param outbox who reads messages; asked when that is wanted
     */
    public Workbench(DataSource dataSource, String schema, String outboxTable, Supplier<Outbox> outbox) {
        this.dataSource = Require.present("data source", dataSource);
        this.schema = Require.identifier("schema", schema);
        this.outboxTable = Require.identifier("table of the outbox", outboxTable);
        this.outbox = Require.present("outbox", outbox);
        this.drain = new Drain(dataSource, schema);
    }

    /** {@link #drain(Duration)} within 30 seconds. */
    public void drain() {
        drain(PATIENCE);
    }

    /**
     * Returns when no message of the outbox or the inbox, and no item of the work queue, is due or in progress: all have been
     * handled, have failed, or are due later. Timers and jobs that are due become messages first.
     *
     * <p>Retries that are due now are waited for, later ones are not; {@link #advance} makes them due. So are messages that
     * handlers write, but not those of transactions that have not been committed. Messages that have expired, and leases
     * that ran out, are dealt with at once instead of at the pace of the nodes.
     *
     * @throws AssertionError if messages are left after this time: says how many of which topic or queue, and their last errors
     */
    public void drain(Duration timeout) {
        drain.await(Require.positive("time-out", timeout));
    }

    /**
     * Behaves as if this much time had passed: what was due within it is due now.
     *
     * <p>The database's clock decides what is due, so the clock stays, and all instants stored in the schema are moved back:
     * due times, pauses before retries, expiries, the ages of messages. A message that was written with a due time therefore
     * shows an earlier one afterwards. What becomes due becomes due at this moment, all together.
     *
     * <p>Leases age too, and no node has renewed them meanwhile: a message in progress loses its lease, as if its node had
     * stood still. Its handler is asked to stop, and the message comes again. That is how to test a crash; otherwise call
     * {@link #drain()} before.
     *
     * <p>Time does not pass for time-outs of handlers, for {@code Instant.now()} or for tables outside of the schema.
     */
    public void advance(Duration time) {
        Require.positive("time to pass", time);
        Sql.inTransaction(dataSource, "advance the time of schema " + schema, connection -> {
            Tables.of(connection, schema).moveBack(connection, time);
            drain.wakeNodes(connection);
            return true;
        });
    }

    /**
     * The stored messages of a topic, in the order they were written, in whatever state.
     *
     * <p>Handled ones are among them as long as they are kept: not with a retention of zero.
     */
    public List<OutboxMessage> messages(String topic) {
        Require.text("topic", topic, 255);
        List<OutboxMessageIdentifier> ids = Sql.inTransaction(
                dataSource, "list the messages of topic " + topic, connection -> ids(connection, topic));
        return ids.stream().map(outbox.get()::find).flatMap(Optional::stream).toList();
    }

    private List<OutboxMessageIdentifier> ids(Connection connection, String topic) throws SQLException {
        String sql = "select id from \"%s\".\"%s\" where topic = ? order by created_at, id"
                .formatted(schema, outboxTable.replace("\"", "\"\""));
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, topic);
            List<OutboxMessageIdentifier> ids = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    ids.add(new OutboxMessageIdentifier(row.getObject(1, UUID.class)));
                }
            }
            return ids;
        }
    }

    /** The payloads of {@link #messages}: {@code assertThat(workbench.payloads("mail.wanted")).containsExactly("ada")}. */
    public List<String> payloads(String topic) {
        return messages(topic).stream().map(OutboxMessage::payload).toList();
    }

    /** The same, decoded by {@link PayloadCodec#standard}. */
    public <T> List<T> payloads(Topic<T> topic) {
        PayloadCodec codec = PayloadCodec.standard();
        return payloads(Require.present("topic", topic).name()).stream()
                .map(payload -> codec.decode(payload, topic.type()))
                .toList();
    }

    /**
     * Empties the tables of the schema, as after a test; not those of jobs, which a program brings along when it starts. Drain before, where nodes
     * go on: what they have in hand is gone, too.
     */
    public void empty() {
        empty(Set.of(outboxTable + "_job", outboxTable + "_job_set"));
    }

    void emptyAll() {
        empty(Set.of());
    }

    private void empty(Set<String> but) {
        Sql.inTransaction(dataSource, "empty the tables of schema " + schema, connection -> {
            Tables.of(connection, schema).without(but).empty(connection);
            return true;
        });
    }
}
