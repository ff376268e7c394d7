package dev.windlass.metrics;

import dev.windlass.base.QueueKind;
import dev.windlass.event.WindlassEvent;
import dev.windlass.event.WindlassListener;
import dev.windlass.health.HealthStatus;
import dev.windlass.health.QueueMeasure;
import dev.windlass.internal.support.Require;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Counters, timers and gauges of one Windlass or of a fleet.
 *
 * <p>Every meter has the tag {@code store}; those of a queue have {@code queue}, and where it matters {@code topic}. The number of topics is
 * bounded, in all and over all stores: those beyond it share the topic {@code other}. Nodes of one registry with the same name share their
 * meters. Gauges come from one bounded query a minute and store, not from scrapes. See docs/monitoring.md for all names.
 */
public final class WindlassMetrics implements WindlassListener {
    private static final String AGE = "windlass.measure.age.seconds";
    private static final int MOST_TOPICS = 200;
    /** Each costs up to ten meters, of which five have a histogram. */
    private static final int PLACES_FOR_EACH = 10;

    private final Meters meters;
    private final Names topics;
    private final Map<Handlers, Timers> handlers = new HashMap<>();

    /** Runs of handlers that are timed together. */
    private record Handlers(String store, QueueKind queue, String topic, WindlassEvent.Ending ending) {}

    private record Timers(Timer latency, Timer handled) {}

    public WindlassMetrics(MeterRegistry registry) {
        this(registry, MOST_TOPICS);
    }

    /**
     * @param mostTopics how many topics have meters of their own; over all queues of all stores, ten times as many
     */
    public WindlassMetrics(MeterRegistry registry, int mostTopics) {
        this.meters = new Meters(Require.present("registry", registry));
        int most = Require.positive("number of topics", mostTopics);
        this.topics = new Names(most, (int) Math.min(Integer.MAX_VALUE, (long) most * PLACES_FOR_EACH));
    }

    /** One of these may hear several of them, each on a thread of its own. */
    @Override
    public synchronized void on(WindlassEvent event) {
        if (event instanceof WindlassEvent.Handled handled) {
            handled(handled);
        } else if (event instanceof WindlassEvent.OfQueue ofQueue) {
            queue(ofQueue);
        } else if (event instanceof WindlassEvent.Measured measured) {
            measured(measured);
        } else if (event instanceof WindlassEvent.MeasureFailed failed) {
            Tags tags = Tags.of("store", failed.store());
            meters.age(AGE, tags, false);
            node(tags, failed.inHand(), failed.loops());
        } else {
            store(event);
        }
    }

    /** Once for each message, and so looked up by what the event has: to make tags would take longer than all the rest. */
    private void handled(WindlassEvent.Handled event) {
        Handlers key = new Handlers(
                event.store(),
                event.queue(),
                topics.bounded(event.store(), event.queue(), event.topic()),
                event.ending());
        Timers timers = handlers.get(key);
        if (timers == null) {
            timers = timers(event);
            handlers.put(key, timers);
        }
        timers.latency.record(event.waited());
        timers.handled.record(event.took());
    }

    private Timers timers(WindlassEvent.Handled event) {
        Tags tags = topic(event, event.topic());
        meters.count("windlass.retried", tags, 0); // an alert on growth needs to have seen a zero
        meters.count("windlass.dead.letters", tags, 0);
        return new Timers(
                meters.timer("windlass.latency", tags),
                meters.timer(
                        "windlass.handled", tags.and("ending", event.ending().toString())));
    }

    private void queue(WindlassEvent.OfQueue event) {
        Tags tags = Tags.of("store", event.store(), "queue", event.queue().toString());
        if (event instanceof WindlassEvent.Enqueued it) {
            meters.count("windlass.enqueued", topic(it, it.topic()), it.messages());
        } else if (event instanceof WindlassEvent.Claimed it) {
            meters.size("windlass.claimed", tags, it.messages());
        } else if (event instanceof WindlassEvent.Settled it) {
            meters.size("windlass.settled", tags, it.messages());
        } else if (event instanceof WindlassEvent.Retried it) {
            meters.count("windlass.retried", topic(it, it.topic()), 1);
        } else if (event instanceof WindlassEvent.DeadLettered it) {
            meters.count("windlass.dead.letters", topic(it, it.topic()), 1);
        } else if (event instanceof WindlassEvent.Expired it) {
            meters.count("windlass.expired", tags, it.messages());
        } else if (event instanceof WindlassEvent.Cleaned it) {
            meters.count("windlass.cleaned", tags, it.messages());
        } else if (event instanceof WindlassEvent.Reaped it) {
            meters.count("windlass.reaped", tags, it.messages());
        } else if (event instanceof WindlassEvent.ClaimsLost it) {
            meters.count("windlass.claims.lost", tags, it.messages());
        } else if (event instanceof WindlassEvent.StuckFound) {
            meters.count("windlass.stuck.found", tags, 1);
        } else if (event instanceof WindlassEvent.TopicUnhandled it) {
            meters.count("windlass.topic.unhandled", topic(it, it.topic()), 1);
        } else if (event instanceof WindlassEvent.CircuitChanged it) {
            meters.gauge("windlass.circuit.open", topic(it, it.topic()), it.open() ? 1 : 0);
        }
    }

    private void store(WindlassEvent event) {
        Tags tags = Tags.of("store", event.store());
        if (event instanceof WindlassEvent.TimersHandedOff it) {
            meters.count("windlass.timers.handed.off", tags, it.timers());
            meters.time("windlass.timers.late", tags, it.late());
        } else if (event instanceof WindlassEvent.JobRunCreated) {
            meters.count("windlass.job.runs.made", tags, 1);
        } else if (event instanceof WindlassEvent.JobRunEnded it) {
            meters.count("windlass.job.runs.ended", tags.and("outcome", it.done() ? "done" : "failed"), 1);
        } else if (event instanceof WindlassEvent.LeaseAcquired it) {
            meters.time("windlass.leases.acquired", tags, it.waited());
        } else if (event instanceof WindlassEvent.LeaseRefused) {
            meters.count("windlass.leases.refused", tags, 1);
        } else if (event instanceof WindlassEvent.LeaseRenewed) {
            meters.count("windlass.leases.renewed", tags, 1);
        } else if (event instanceof WindlassEvent.LeaseLost) {
            meters.count("windlass.leases.lost", tags, 1);
        } else if (event instanceof WindlassEvent.ContentDiffers) {
            meters.count("windlass.content.differs", tags, 1);
        } else if (event instanceof WindlassEvent.OutageBegan) {
            meters.count("windlass.outages", tags, 1);
            meters.gauge("windlass.outage", tags, 1);
        } else if (event instanceof WindlassEvent.OutageEnded) {
            meters.gauge("windlass.outage", tags, 0);
        } else if (event instanceof WindlassEvent.ConnectionsExhausted) {
            meters.count("windlass.connections.exhausted", tags, 1);
        } else if (event instanceof WindlassEvent.Stopped) {
            handlers.keySet().removeIf(key -> key.store.equals(event.store()));
            meters.forgetGauges(event.store());
        } else if (event instanceof WindlassEvent.StoreRemoved it && !it.replacement()) {
            handlers.keySet().removeIf(key -> key.store.equals(it.store()));
            topics.forget(it.store());
            meters.forget(it.store());
        }
    }

    private void measured(WindlassEvent.Measured event) {
        Tags tags = Tags.of("store", event.store());
        meters.tellOf(event.store());
        for (QueueMeasure queue : event.queues()) {
            measured(tags, queue);
        }
        meters.age(AGE, tags, true);
        node(tags, event.inHand(), event.loops());
        meters.gauge("active.leases", tags, event.activeLeases());
        meters.isThere("windlass.outage", tags); // an alert needs to have seen a zero
        meters.count("windlass.leases.lost", tags, 0);
        meters.count("windlass.leases.refused", tags, 0);
    }

    /** What it knows of itself, without the database. */
    private void node(Tags tags, Map<QueueKind, Integer> inHand, HealthStatus loops) {
        meters.gauge("windlass.loops", tags, number(loops));
        inHand.forEach((queue, count) -> meters.own("windlass.in.hand", tags.and("queue", queue.toString()), count));
    }

    private static int number(HealthStatus status) {
        return switch (status) {
            case HEALTHY -> 0;
            case DEGRADED -> 1;
            case UNHEALTHY -> 2;
        };
    }

    private void measured(Tags store, QueueMeasure measure) {
        Tags tags = store.and("queue", measure.queue().toString());
        meters.count("windlass.reaped", tags, 0);
        meters.count("windlass.expired", tags, 0);
        meters.count("windlass.claims.lost", tags, 0);
        meters.gauge("windlass.queue.ready", tags, measure.ready());
        meters.gauge("windlass.queue.delayed", tags, measure.delayed());
        meters.gauge("windlass.queue.waiting", tags, measure.waiting());
        meters.gauge("windlass.queue.in.progress", tags, measure.inProgress());
        meters.gauge("windlass.queue.failed", tags, measure.failed());
        meters.gauge("windlass.queue.overdue", tags, measure.overdue());
        meters.gauge("windlass.queue.stuck", tags, measure.stuck());
        meters.gauge("windlass.queue.incomplete", tags, measure.moreTopics() ? 1 : 0);
        meters.gauge(
                "windlass.queue.oldest.age.seconds",
                tags,
                measure.oldestReady().map(Duration::toSeconds).orElse(0L));
        if (measure.queue() == QueueKind.OUTBOX) {
            meters.gauge("outbox.pending.messages", store, measure.ready() + measure.delayed() + measure.waiting());
            meters.gauge("outbox.processing.messages", store, measure.inProgress());
            meters.gauge("outbox.failed.messages", store, measure.failed());
        } else if (measure.queue() == QueueKind.TIMERS) {
            meters.gauge("timers.pending", store, measure.ready() + measure.delayed());
            meters.gauge("timers.overdue", store, measure.overdue());
        }
    }

    private Tags topic(WindlassEvent.OfQueue event, String topic) {
        return Tags.of(
                "store",
                event.store(),
                "queue",
                event.queue().toString(),
                "topic",
                topics.bounded(event.store(), event.queue(), topic));
    }
}
