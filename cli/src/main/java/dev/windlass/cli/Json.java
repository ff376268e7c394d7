package dev.windlass.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.windlass.inbox.ContentHash;
import dev.windlass.inbox.SeenMessage;
import dev.windlass.join.Join;
import dev.windlass.lease.LeaseState;
import dev.windlass.operator.OperatorAction;
import dev.windlass.operator.PausedTopic;
import dev.windlass.operator.TopicLimit;
import dev.windlass.outbox.ListedMessage;
import dev.windlass.outbox.OutboxMessage;
import dev.windlass.schedule.ListedTimer;
import dev.windlass.schedule.Timer;
import dev.windlass.work.ListedWork;
import dev.windlass.work.WorkItem;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** What commands print for other programs, named as in the library; what is not there is null. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    static ObjectNode of(ListedMessage message) {
        return MAPPER.createObjectNode()
                .put("id", message.id().toString())
                .put("topic", message.topic())
                .put("source", text(message.source()))
                .put("status", message.status().name())
                .put("correlationId", text(message.correlationId()))
                .put("orderingKey", text(message.orderingKey()))
                .put("blocksKey", message.blocksKey())
                .put("createdAt", message.createdAt().toString())
                .put("at", message.at().toString())
                .put("endedBy", text(message.endedBy()))
                .put("retryCount", message.retryCount())
                .put("leaseExpiries", message.leaseExpiries())
                .put("requeues", message.requeues())
                .put("lastError", text(message.lastError()))
                .put("erased", message.isErased());
    }

    static ObjectNode of(SeenMessage message) {
        return MAPPER.createObjectNode()
                .put("source", message.key().source())
                .put("messageId", message.key().messageId())
                .put("status", message.status().name())
                .put("topic", text(message.topic()))
                .put("hash", text(message.hash().map(ContentHash::hex)))
                .put("firstSeenAt", message.firstSeenAt().toString())
                .put("lastSeenAt", message.lastSeenAt().toString())
                .put("begunAt", text(message.begunAt()))
                .put("leaseUntil", text(message.leaseUntil()))
                .put("endedAt", text(message.endedAt()))
                .put("retryCount", message.retryCount())
                .put("leaseExpiries", message.leaseExpiries())
                .put("requeues", message.requeues())
                .put("processedBy", text(message.processedBy()))
                .put("lastError", text(message.lastError()));
    }

    static ObjectNode of(dev.windlass.inbox.ListedMessage message) {
        return MAPPER.createObjectNode()
                .put("source", message.key().source())
                .put("messageId", message.key().messageId())
                .put("status", message.status().name())
                .put("topic", text(message.topic()))
                .put("firstSeenAt", message.firstSeenAt().toString())
                .put("at", message.at().toString())
                .put("begunAt", text(message.begunAt()))
                .put("retryCount", message.retryCount())
                .put("leaseExpiries", message.leaseExpiries())
                .put("requeues", message.requeues())
                .put("endedBy", text(message.endedBy()))
                .put("lastError", text(message.lastError()))
                .put("erased", message.isErased());
    }

    static ObjectNode of(OutboxMessage message, boolean blocksKey) {
        return MAPPER.createObjectNode()
                .put("id", message.id().value().toString())
                .put("topic", message.topic())
                .put("status", message.status().name())
                .put("correlationId", text(message.correlationId()))
                .put("orderingKey", text(message.orderingKey()))
                .put("blocksKey", blocksKey)
                .put("createdAt", message.createdAt().toString())
                .put("dueTime", text(message.dueTime()))
                .put("expiresAt", text(message.expiresAt()))
                .put("retryCount", message.retryCount())
                .put("leaseExpiries", message.leaseExpiries())
                .put("requeues", message.requeues())
                .put("lastError", text(message.lastError()))
                .put("endedAt", text(message.endedAt()))
                .put("processedBy", text(message.processedBy()))
                .put("erasedAt", text(message.erasedAt()));
    }

    static void addContent(ObjectNode json, OutboxMessage message) {
        addContent(json, message.payload(), message.headers());
    }

    static void addContent(ObjectNode json, String payload, Map<String, String> headers) {
        json.put("payload", payload);
        ObjectNode object = json.putObject("headers");
        headers.forEach(object::put);
    }

    static ObjectNode of(PausedTopic paused) {
        return MAPPER.createObjectNode()
                .put("topic", paused.topic())
                .put("since", paused.since().toString())
                .put("by", paused.by())
                .put("reason", text(paused.reason()));
    }

    static ObjectNode of(String topic, TopicLimit limit) {
        ObjectNode json = MAPPER.createObjectNode().put("topic", topic);
        addLimit(json, limit);
        return json;
    }

    static void addLimit(ObjectNode json, TopicLimit limit) {
        json.put("running", limit.running())
                .put("perKey", limit.perKey())
                .put("rate", limit.rate())
                .put("period", text(Optional.ofNullable(limit.period())));
    }

    static ObjectNode of(ListedWork item) {
        return MAPPER.createObjectNode()
                .put("id", item.id().toString())
                .put("queue", item.queue())
                .put("type", item.type())
                .put("status", item.status().name())
                .put("priority", item.priority())
                .put("key", text(item.key()))
                .put("uniqueKey", text(item.uniqueKey()))
                .put("correlationId", text(item.correlationId()))
                .put("createdAt", item.createdAt().toString())
                .put("at", item.at().toString())
                .put("processedBy", text(item.processedBy()))
                .put("retryCount", item.retryCount())
                .put("leaseExpiries", item.leaseExpiries())
                .put("requeues", item.requeues())
                .put("progress", number(item.progress()))
                .put("progressText", text(item.progressText()))
                .put("lastError", text(item.lastError()))
                .put("erased", item.isErased());
    }

    static ObjectNode of(WorkItem item) {
        return MAPPER.createObjectNode()
                .put("id", item.id().toString())
                .put("queue", item.queue())
                .put("type", item.type())
                .put("status", item.status().name())
                .put("priority", item.priority())
                .put("key", text(item.key()))
                .put("uniqueKey", text(item.uniqueKey()))
                .put("correlationId", text(item.correlationId()))
                .put("createdAt", item.createdAt().toString())
                .put("runAt", item.runAt().toString())
                .put("expiresAt", text(item.expiresAt()))
                .put("startedAt", text(item.startedAt()))
                .put("claimedBy", text(item.claimedBy()))
                .put("leaseExpiresAt", text(item.leaseExpiresAt()))
                .put("cancelAskedAt", text(item.cancelAskedAt()))
                .put("endedAt", text(item.endedAt()))
                .put("retryCount", item.retryCount())
                .put("leaseExpiries", item.leaseExpiries())
                .put("requeues", item.requeues())
                .put("progress", number(item.progress()))
                .put("progressText", text(item.progressText()))
                .put("lastError", text(item.lastError()));
    }

    static ObjectNode of(Join join) {
        return MAPPER.createObjectNode()
                .put("id", join.id().toString())
                .put("groupingKey", text(join.groupingKey()))
                .put("status", join.status().name())
                .put("expectedSteps", join.expectedSteps())
                .put("members", join.members())
                .put("completedSteps", join.completedSteps())
                .put("failedSteps", join.failedSteps())
                .put("failedByAny", join.failedByAny())
                .put("createdAt", join.createdAt().toString())
                .put("updatedAt", join.updatedAt().toString())
                .put("endedAt", text(join.endedAt()))
                .put("followUpId", text(join.followUpId()))
                .put("lastError", text(join.lastError()));
    }

    static ObjectNode of(LeaseState lease) {
        return MAPPER.createObjectNode()
                .put("name", lease.name())
                .put("permit", lease.permit())
                .put("owner", lease.owner())
                .put("fencingToken", lease.fencingToken())
                .put("acquiredAt", lease.acquiredAt().toString())
                .put("expiresAt", lease.expiresAt().toString())
                .put("held", lease.held());
    }

    static ObjectNode of(Timer timer) {
        return MAPPER.createObjectNode()
                .put("id", timer.id().value().toString())
                .put("topic", timer.topic())
                .put("status", timer.status().name())
                .put("key", text(timer.key()))
                .put("correlationId", text(timer.correlationId()))
                .put("createdAt", timer.createdAt().toString())
                .put("dueTime", timer.dueTime().toString())
                .put("nextAttempt", timer.nextAttempt().toString())
                .put("retryCount", timer.retryCount())
                .put("leaseExpiries", timer.leaseExpiries())
                .put("lastError", text(timer.lastError()));
    }

    static ObjectNode of(ListedTimer timer) {
        return MAPPER.createObjectNode()
                .put("id", timer.id().toString())
                .put("topic", timer.topic())
                .put("status", timer.status().name())
                .put("key", text(timer.key()))
                .put("correlationId", text(timer.correlationId()))
                .put("createdAt", timer.createdAt().toString())
                .put("dueTime", timer.dueTime().toString())
                .put("at", timer.at().toString())
                .put("retryCount", timer.retryCount())
                .put("leaseExpiries", timer.leaseExpiries())
                .put("requeues", timer.requeues())
                .put("lastError", text(timer.lastError()))
                .put("erased", timer.isErased());
    }

    static ObjectNode of(OperatorAction action) {
        ObjectNode json = MAPPER.createObjectNode()
                .put("number", action.number())
                .put("at", action.at().toString())
                .put("by", action.by())
                .put("verb", action.verb())
                .put("messages", action.messages());
        return json.set("detail", read(action.detail()));
    }

    static JsonNode read(String json) {
        try {
            return MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new CommandFailure(
                    "expected JSON from the database, got something else at "
                            + e.getLocation().offsetDescription(),
                    e);
        }
    }

    private static @Nullable Integer number(OptionalInt value) {
        return value.isPresent() ? value.getAsInt() : null;
    }

    static @Nullable String text(Optional<?> value) {
        return value.map(Object::toString).orElse(null);
    }
}
