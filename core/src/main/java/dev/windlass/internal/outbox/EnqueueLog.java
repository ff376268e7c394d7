package dev.windlass.internal.outbox;

import dev.windlass.base.QueueKind;
import dev.windlass.internal.database.Database;
import dev.windlass.internal.queue.Written;
import dev.windlass.outbox.Outbox;
import dev.windlass.outbox.OutboxEntry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells what has been enqueued, to listeners and in the log: one line for a message or for a batch, of which the first few are named. Where
 * an earlier message stands, under its deduplication key, nothing has been.
 */
final class EnqueueLog {
    private static final Logger log = LoggerFactory.getLogger(Outbox.class);
    private static final int MOST_TOPICS = 20;
    private static final int MOST_MESSAGES = 5;

    private final Database database;

    EnqueueLog(Database database) {
        this.database = database;
    }

    void enqueued(OutboxEntry entry, UUID id, UUID stands) {
        if (!stands.equals(id)) {
            return;
        }
        log.debug(
                "[{}] enqueued {} of topic {}, correlation id {}",
                database.name(),
                id,
                entry.topic(),
                entry.correlationId());
        Written.tell(database, QueueKind.OUTBOX, List.of(entry), OutboxEntry::topic);
    }

    void enqueued(List<OutboxEntry> entries, List<UUID> ids, List<UUID> stand) {
        if (stand.equals(ids)) {
            enqueued(entries, ids);
            return;
        }
        int[] written = IntStream.range(0, ids.size())
                .filter(i -> stand.get(i).equals(ids.get(i)))
                .toArray();
        if (written.length > 0) {
            enqueued(
                    IntStream.of(written).mapToObj(entries::get).toList(),
                    IntStream.of(written).mapToObj(ids::get).toList());
        }
    }

    private void enqueued(List<OutboxEntry> entries, List<UUID> ids) {
        Written.tell(database, QueueKind.OUTBOX, entries, OutboxEntry::topic);
        if (log.isDebugEnabled()) {
            log.debug(
                    "[{}] enqueued {} messages of topics {}: {}",
                    database.name(),
                    entries.size(),
                    topics(entries),
                    first(entries, ids));
        }
    }

    private static String topics(List<OutboxEntry> entries) {
        Map<String, Long> counts = entries.stream()
                .collect(Collectors.groupingBy(OutboxEntry::topic, LinkedHashMap::new, Collectors.counting()));
        return shortened(
                counts.entrySet().stream().map(topic -> topic.getKey() + " (" + topic.getValue() + ")"),
                MOST_TOPICS,
                counts.size());
    }

    private static String first(List<OutboxEntry> entries, List<UUID> ids) {
        return shortened(
                IntStream.range(0, ids.size())
                        .mapToObj(i -> ids.get(i) + " with correlation id "
                                + entries.get(i).correlationId()),
                MOST_MESSAGES,
                ids.size());
    }

    private static String shortened(Stream<String> words, int most, int count) {
        return words.limit(most).collect(Collectors.joining(", "))
                + (count > most ? " and " + (count - most) + " more" : "");
    }
}
