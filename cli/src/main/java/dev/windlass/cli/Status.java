package dev.windlass.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All that the status tells.
 *
 * @param at by the database's clock
 */
record Status(
        Instant at,
        List<TopicStatus> topics,
        List<TopicStatus> queues,
        InboxStatus inbox,
        TimerStatus timers,
        JobStatus jobs) {

    static Status read(Connection connection, SchemaOptions schema) throws SQLException {
        return new Status(
                now(connection),
                TopicStatus.ofOutbox(connection, schema),
                TopicStatus.ofWork(connection, schema),
                InboxStatus.read(connection, schema),
                TimerStatus.read(connection, schema),
                JobStatus.read(connection, schema));
    }

    private static Instant now(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("select clock_timestamp()")) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }

    void print(Paper page) {
        if (topics.isEmpty()) {
            page.out().println("no messages in the outbox");
        } else {
            topicTable().print(page);
        }
        if (!queues.isEmpty()) {
            queueTable().print(page);
        }
        if (Stream.concat(topics.stream(), queues.stream()).anyMatch(TopicStatus::isCut)) {
            page.sentence(
                    "A + means at least: counting stops at %,d ready or failed ones of a topic, and at as many in each other state."
                            .formatted(TopicStatus.MOST));
        }
        if (areMoreTopics()) {
            page.sentence("There are more topics than were looked at, and not all are shown.");
        }
        if (!inbox.isEmpty()) {
            page.sentence(inbox.toString());
        }
        if (!timers.isEmpty()) {
            page.sentence(timers.toString());
        }
        if (!jobs.isEmpty()) {
            page.sentence(jobs.toString());
        }
    }

    private boolean areMoreTopics() {
        return Stream.concat(topics.stream(), queues.stream()).anyMatch(TopicStatus::areMoreTopics);
    }

    private Table topicTable() {
        Table table = Table.ofNumbers(
                "TOPIC", "READY", "DUE", "WAITING", "IN PROGRESS", "DONE", "FAILED", "BLOCKED KEYS", "OLDEST DUE");
        for (TopicStatus topic : topics) {
            table.row(
                    name(topic) + (topic.isLimited() ? " (limited)" : ""),
                    topic.ready().toString(),
                    topic.due().toString(),
                    topic.waiting().toString(),
                    topic.inProgress().toString(),
                    topic.done().toString(),
                    topic.failed().toString(),
                    topic.blockedKeys().toString(),
                    topic.oldestDue() == null ? "-" : Span.of(topic.oldestDue()));
        }
        return table;
    }

    private Table queueTable() {
        Table table = Table.ofNumbers("QUEUE", "READY", "DUE", "IN PROGRESS", "DONE", "FAILED", "OLDEST DUE", "LIMIT");
        for (TopicStatus queue : queues) {
            table.row(
                    name(queue),
                    queue.ready().toString(),
                    queue.due().toString(),
                    queue.inProgress().toString(),
                    queue.done().toString(),
                    queue.failed().toString(),
                    queue.oldestDue() == null ? "-" : Span.of(queue.oldestDue()),
                    queue.isLimited() ? LimitCommand.words(queue.limit()) : "-");
        }
        return table;
    }

    private static String name(TopicStatus topic) {
        return topic.topic() + (topic.isPaused() ? " (paused)" : "");
    }

    /** For other programs: numbers, and which of them are only the least there is. */
    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("at", at.toString());
        put(json.putArray("topics"), "topic", topics, Set.of());
        put(json.putArray("queues"), "queue", queues, Set.of("waiting", "blockedKeys"));
        json.put("moreTopics", areMoreTopics());
        put(json.putObject("inbox"), inboxCounts());
        put(json.putObject("timers"), timerCounts()).put("nextDueInSeconds", seconds(timers.next()));
        put(json.putObject("jobs"), new LinkedHashMap<>(Map.of("jobs", jobs.jobs())))
                .put("paused", jobs.paused())
                .put("problems", jobs.problems())
                .put("nextDueInSeconds", seconds(jobs.next()));
        return json;
    }

    /**
     * @param without counts that mean nothing there
     */
    private static void put(ArrayNode array, String name, List<TopicStatus> topics, Set<String> without) {
        for (TopicStatus topic : topics) {
            ObjectNode object = array.addObject().put(name, topic.topic()).put("paused", topic.isPaused());
            Map<String, Count> counts = topic.counts();
            counts.keySet().removeAll(without);
            put(object, counts).put("oldestDueSeconds", seconds(topic.oldestDue()));
            if (topic.isLimited()) {
                Json.addLimit(object.putObject("limit"), topic.limit());
            } else {
                object.putNull("limit");
            }
        }
    }

    private Map<String, Count> inboxCounts() {
        Map<String, Count> counts = new LinkedHashMap<>();
        counts.put("ready", inbox.ready());
        counts.put("inProgress", inbox.inProgress());
        counts.put("done", inbox.done());
        counts.put("failed", inbox.failed());
        return counts;
    }

    private Map<String, Count> timerCounts() {
        Map<String, Count> counts = new LinkedHashMap<>();
        counts.put("pending", timers.pending());
        counts.put("claimed", timers.claimed());
        counts.put("failed", timers.failed());
        counts.put("overdue", timers.overdue());
        return counts;
    }

    private static ObjectNode put(ObjectNode json, Map<String, Count> counts) {
        counts.forEach((name, count) -> json.put(name, count.number()));
        json.putArray("atLeast");
        counts.forEach((name, count) -> {
            if (count.isCut()) {
                json.withArray("/atLeast").add(name);
            }
        });
        return json;
    }

    private static @Nullable Long seconds(@Nullable Duration span) {
        return span == null ? null : span.toSeconds();
    }
}
