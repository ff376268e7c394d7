package dev.windlass.cli;

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
import org.jspecify.annotations.Nullable;

/**
 * All that the status tells.
 *
 * @param at by the database's clock
 */
record Status(Instant at, List<TopicStatus> topics, InboxStatus inbox, TimerStatus timers, JobStatus jobs) {

    static Status read(Connection connection, SchemaOptions schema) throws SQLException {
        return new Status(
                now(connection),
                TopicStatus.read(connection, schema),
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
            table().print(page);
        }
        if (topics.stream().anyMatch(TopicStatus::isCut)) {
            page.sentence(
                    "A + means at least: counting stops at %,d ready messages of a topic, and at %,d in each other state."
                            .formatted(TopicStatus.MAX_READY, TopicStatus.MAX_OTHERS));
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

    private Table table() {
        Table table = Table.ofNumbers(
                "TOPIC", "READY", "DUE", "WAITING", "IN PROGRESS", "DONE", "FAILED", "BLOCKED KEYS", "OLDEST DUE");
        for (TopicStatus topic : topics) {
            table.row(
                    topic.topic() + (topic.isPaused() ? " (paused)" : ""),
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

    /** For other programs: numbers, and which of them are only the least there is. */
    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("at", at.toString());
        json.putArray("topics");
        topics.forEach(topic -> {
            ObjectNode object = json.withArray("/topics").addObject();
            object.put("topic", topic.topic()).put("paused", topic.isPaused());
            put(object, topic.counts());
            object.put("oldestDueSeconds", seconds(topic.oldestDue()));
        });
        put(json.putObject("inbox"), inboxCounts());
        put(json.putObject("timers"), timerCounts()).put("nextDueInSeconds", seconds(timers.next()));
        put(json.putObject("jobs"), new LinkedHashMap<>(Map.of("jobs", jobs.jobs())))
                .put("paused", jobs.paused())
                .put("problems", jobs.problems())
                .put("nextDueInSeconds", seconds(jobs.next()));
        return json;
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
