package dev.windlass.internal.outbox;

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

/** Tells what has been enqueued: one line for a message or for a batch, of which the first few are named. */
final class EnqueueLog {
    private static final Logger log = LoggerFactory.getLogger(Outbox.class);
    private static final int MOST_TOPICS = 20;
    private static final int MOST_MESSAGES = 5;

    private final String store;

    EnqueueLog(String store) {
        this.store = store;
    }

    void enqueued(OutboxEntry entry, UUID id) {
        log.debug("[{}] enqueued {} of topic {}, correlation id {}", store, id, entry.topic(), entry.correlationId());
    }

    void enqueued(List<OutboxEntry> entries, List<UUID> ids) {
        if (log.isDebugEnabled()) {
            log.debug(
                    "[{}] enqueued {} messages of topics {}: {}",
                    store,
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
