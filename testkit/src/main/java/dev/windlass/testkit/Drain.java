package dev.windlass.testkit;

import dev.windlass.internal.schema.Channel;
import dev.windlass.internal.support.InWords;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Waits until the nodes have handled all that is due, and says what is left when they do not. */
final class Drain {
    private static final Duration PAUSE = Duration.ofMillis(10);
    private static final int BATCH = 1000;

    private final DataSource dataSource;
    private final String schema;

    Drain(DataSource dataSource, String schema) {
        this.dataSource = dataSource;
        this.schema = schema;
    }

    void await(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        List<String> left = round(true);
        while (!left.isEmpty()) {
            if (System.nanoTime() - deadline >= 0) {
                throw new AssertionError("expected nothing due or in progress in schema " + schema + " within "
                        + InWords.of(timeout) + ", still there: " + String.join("; ", left)
                        + " (each needs a handler in a Windlass that has been started)");
            }
            pause();
            left = round(false);
        }
    }

    private List<String> round(boolean first) {
        return Sql.inTransaction(dataSource, "look what is left in schema " + schema, connection -> {
            boolean wake = first;
            List<Queue> queues = queues(connection);
            for (Queue queue : queues) {
                wake |= reapAndExpire(connection, queue);
            }
            List<String> left = left(connection, queues);
            if (wake && !left.isEmpty()) {
                wakeNodes(connection);
            }
            return left;
        });
    }

    /** The nodes do this too, at their own pace, and leave leases alone for a while after the server has started. */
    private static boolean reapAndExpire(Connection connection, Queue queue) throws SQLException {
        String sql = "select %s(%d), %s(interval '0', %d)".formatted(queue.expire, BATCH, queue.reap, BATCH);
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(2) > 0;
        }
    }

    /** One look at all of it: what one queue hands to another could slip through between two. */
    private static List<String> left(Connection connection, List<Queue> queues) throws SQLException {
        List<String> looks = new ArrayList<>();
        for (Queue queue : queues) {
            looks.add(dueOrInProgress(queue));
            if (queue.schedules) {
                looks.add(dueTimers(queue));
                looks.add(dueJobs(queue));
            }
        }
        String sql = looks.stream().map(look -> "(" + look + ")").collect(Collectors.joining("\nunion all\n"));
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            List<String> left = new ArrayList<>();
            while (row.next()) {
                left.add(row.getString(1));
            }
            return left;
        }
    }

    private static String dueOrInProgress(Queue queue) {
        return """
                select format('%%s of %s %%s %%s%%s', count(*), m.topic, case m.status when 0 then 'ready' else 'in progress' end,
                              ', last error: '
                              || (array_agg(m.last_error order by m.id desc) filter (where m.last_error is not null))[1])
                  from %s m
                 where m.topic is not null
                   and (m.status = 1 or (m.status = 0 and m.next_attempt_at <= clock_timestamp()))
                 group by m.topic, m.status
                 order by m.topic, m.status""".formatted(queue.topic, queue.name);
    }

    private static String dueTimers(Queue queue) {
        return """
                select format('%%s of topic %%s due as timers', count(*), t.topic)
                  from %s t
                 where t.status = 0 and t.next_attempt_at <= clock_timestamp()
                 group by t.topic
                 order by t.topic""".formatted(queue.timers);
    }

    private static String dueJobs(Queue queue) {
        return """
                select format('job %%s due', j.name)
                  from %s j
                 where j.fires_at <= clock_timestamp()
                 order by j.name""".formatted(queue.jobs);
    }

    /** For nodes that listen; the others poll. */
    void wakeNodes(Connection connection) throws SQLException {
        for (Queue queue : queues(connection)) {
            try (PreparedStatement statement =
                    connection.prepareStatement("select pg_notify(channel, 'ready') from unnest(?::text[]) channel")) {
                statement.setObject(1, queue.channels.toArray(String[]::new));
                statement.execute();
            }
        }
    }

    /**
     * An outbox, a work queue, or what of an inbox is for handlers.
     *
     * @param topic what its topics are called
     */
    private record Queue(
            String name,
            String topic,
            String expire,
            String reap,
            List<String> channels,
            boolean schedules,
            String timers,
            String jobs) {}

    private List<Queue> queues(Connection connection) throws SQLException {
        String sql = """
                select distinct v.table_name,
                       format('%%I.%%I', ?::text, v.table_name) as name,
                       format('%%I.%%I', ?::text, v.table_name || '_expire') as expire,
                       format('%%I.%%I', ?::text, v.table_name || '_reap') as reap,
                       case v.component when 'work' then 'queue' else 'topic' end as topic,
                       v.component = 'outbox' as schedules,
                       format('%%I.%%I', ?::text, v.table_name || '_timer') as timers,
                       format('%%I.%%I', ?::text, v.table_name || '_job') as jobs
                  from "%s".windlass_version v
                 where v.component in ('outbox', 'inbox', 'work')
                 order by v.table_name""".formatted(schema);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 1; i <= 5; i++) {
                statement.setString(i, schema);
            }
            List<Queue> queues = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String table = row.getString("table_name");
                    Stream<String> tables = row.getBoolean("schedules")
                            ? Stream.of(table, table + "_timer", table + "_job_run")
                            : Stream.of(table);
                    queues.add(new Queue(
                            row.getString("name"),
                            row.getString("topic"),
                            row.getString("expire"),
                            row.getString("reap"),
                            tables.map(each -> Channel.of(schema, each)).toList(),
                            row.getBoolean("schedules"),
                            row.getString("timers"),
                            row.getString("jobs")));
                }
            }
            return queues;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for messages to be handled", e);
        }
    }
}
