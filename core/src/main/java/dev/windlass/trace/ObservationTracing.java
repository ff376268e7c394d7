package dev.windlass.trace;

import dev.windlass.base.QueueKind;
import dev.windlass.internal.support.Require;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Observations of messages that are written ({@code windlass.write}) and handled ({@code windlass.handle}).
 *
 * <p>Who puts a context into the headers, and takes it out, is a handler of the registry: micrometer-tracing has one for senders and one for
 * receivers.
 */
public final class ObservationTracing implements Tracing {
    private final ObservationRegistry registry;

    public ObservationTracing(ObservationRegistry registry) {
        this.registry = Require.present("registry", registry);
    }

    /** Headers that have a context already keep it: a message that was received goes on in the trace of its sender. */
    @Override
    public Map<String, String> written(QueueKind queue, String topic, Map<String, String> headers) {
        if (registry.isNoop()) {
            return headers;
        }
        Map<String, String> own = new HashMap<>();
        SenderContext<Map<String, String>> context = new SenderContext<>(
                (carrier, name, value) -> Objects.requireNonNull(carrier).put(name, value), Kind.PRODUCER);
        context.setCarrier(own);
        observation("windlass.write", topic + " write", queue, topic, context).observe(() -> {});
        if (own.keySet().stream().anyMatch(name -> isOfTrace(name) && has(headers, name))) {
            return headers;
        }
        Map<String, String> all = new HashMap<>(headers);
        own.forEach(all::putIfAbsent);
        return all;
    }

    /** The rest is what goes along with any trace. */
    private static boolean isOfTrace(String name) {
        return !name.equalsIgnoreCase("baggage");
    }

    private static boolean has(Map<String, String> headers, String name) {
        return headers.keySet().stream().anyMatch(name::equalsIgnoreCase);
    }

    @Override
    public void handled(Received received, Work handler) throws Exception {
        observation(received).observeChecked(handler::run);
    }

    /**
     * An observation cannot have links. So each of the others has one of its own, in its own trace, which names the message that it was
     * handled with.
     */
    @Override
    public void handledTogether(Received first, List<Received> others, Work handler) throws Exception {
        List<Observation> all = others.stream()
                .map(other -> observation(other).highCardinalityKeyValue("windlass.handled.with", first.id()))
                .map(Observation::start)
                .toList();
        Observation own = registry.getCurrentObservation();
        if (own != null) {
            own.highCardinalityKeyValue("messaging.batch.message_count", Integer.toString(others.size() + 1));
        }
        try {
            handler.run();
        } catch (Throwable e) {
            all.forEach(observation -> observation.error(e));
            throw e;
        } finally {
            all.forEach(Observation::stop);
        }
    }

    private Observation observation(Received received) {
        ReceiverContext<Map<String, String>> context = new ReceiverContext<>(
                (carrier, name) -> Objects.requireNonNull(carrier).get(name), Kind.CONSUMER);
        context.setCarrier(received.headers());
        Observation observation = observation(
                        "windlass.handle", received.topic() + " handle", received.queue(), received.topic(), context)
                .highCardinalityKeyValue("messaging.message.id", received.id())
                .highCardinalityKeyValue("windlass.attempt", Integer.toString(received.attempt()));
        received.correlationId()
                .ifPresent(id -> observation.highCardinalityKeyValue("messaging.message.conversation_id", id));
        return observation;
    }

    private Observation observation(
            String name, String told, QueueKind queue, String topic, Observation.Context context) {
        return Observation.createNotStarted(name, () -> context, registry)
                .contextualName(told)
                .lowCardinalityKeyValue(KeyValue.of("messaging.system", "windlass"))
                .lowCardinalityKeyValue(KeyValue.of("messaging.destination.name", topic))
                .lowCardinalityKeyValue(KeyValue.of("windlass.queue", queue.toString()));
    }
}
