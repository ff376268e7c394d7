package dev.windlass.spring;

import dev.windlass.WindlassBuilder;
import dev.windlass.base.Feature;
import dev.windlass.base.HandlerOptions;
import dev.windlass.base.QueueOptions;
import dev.windlass.base.RetryPolicy;
import dev.windlass.base.WindlassOptions;
import dev.windlass.health.HealthOptions;
import dev.windlass.inbox.InboxOptions;
import dev.windlass.lease.LeaseOptions;
import dev.windlass.outbox.OutboxOptions;
import dev.windlass.schedule.ScheduleOptions;
import dev.windlass.spring.Given.InvalidPropertyException;
import dev.windlass.spring.WindlassProperties.FleetProperties;
import dev.windlass.spring.WindlassProperties.HandlerProperties;
import dev.windlass.spring.WindlassProperties.HealthProperties;
import dev.windlass.store.FleetOptions;
import dev.windlass.work.WorkOptions;
import java.lang.annotation.Annotation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What properties mean. */
final class PropertiesToOptions {
    private final WindlassProperties given;

    PropertiesToOptions(WindlassProperties given) {
        this.given = given;
    }

    void customize(WindlassBuilder builder) {
        builder.options(options()).outbox(outbox()).inbox(inbox()).work(work());
        builder.schedule(schedule()).leases(leases()).health(health());
        if (given.name() != null) {
            builder.name(given.name());
        }
        Set<Feature> features = given.features();
        if (features != null && !features.isEmpty()) {
            ArrayDeque<Feature> rest = new ArrayDeque<>(features);
            builder.only(rest.pop(), rest.toArray(new Feature[0]));
        }
    }

    /** What is annotated needs the feature that it belongs to. */
    void requireFeature(Annotation annotation, String who) {
        String its = who + ", which has @" + annotation.annotationType().getSimpleName();
        if (annotation instanceof OnOutbox) {
            require(Feature.OUTBOX, its);
        } else if (annotation instanceof OnInbox) {
            require(Feature.INBOX, its);
        } else if (annotation instanceof OnWork) {
            require(Feature.WORK, its);
        } else if (annotation instanceof CronJob) {
            require(Feature.SCHEDULE, its);
        }
    }

    /**
     * Refuses what uses a feature that is left out.
     *
     * @throws InvalidPropertyException if it is
     */
    void require(Feature feature, String who) {
        Set<Feature> features = given.features();
        if (features != null && !features.isEmpty() && !features.contains(feature)) {
            throw new InvalidPropertyException(
                    "windlass.features",
                    names(features),
                    "expected " + name(feature) + " among the features, for " + who + ", got " + names(features),
                    null);
        }
    }

    private static String names(Set<Feature> features) {
        return features.stream().map(PropertiesToOptions::name).collect(Collectors.joining(", "));
    }

    private static String name(Feature feature) {
        return feature.name().toLowerCase(Locale.ROOT);
    }

    private WindlassOptions options() {
        return new Given<>("windlass", WindlassOptions.defaults().withBackgroundWorkers(given.workers()))
                .with("schema", given.schema(), WindlassOptions::withSchemaName)
                .with("ensure-schema", given.ensureSchema(), WindlassOptions::withEnsureSchema)
                .with("node-name", given.nodeName(), WindlassOptions::withNodeName)
                .with("max-polling-interval", given.maxPollingInterval(), WindlassOptions::withMaxPollingInterval)
                .with("wake-up", given.wakeUp(), WindlassOptions::withWakeUp)
                .with("shutdown-grace", given.shutdownGrace(), WindlassOptions::withShutdownGrace)
                .with("auto-commit-allowed", given.autoCommitAllowed(), WindlassOptions::withAutoCommitAllowed)
                .with("transaction-required", given.transactionRequired(), WindlassOptions::withTransactionRequired)
                .with("retries-as-warnings", given.retriesAsWarnings(), WindlassOptions::withRetriesAsWarnings)
                .options();
    }

    OutboxOptions outbox() {
        var its = given.outbox();
        String prefix = "windlass.outbox";
        QueueOptions queue = queue(
                prefix,
                OutboxOptions.defaults().queue(),
                its.pollingInterval(),
                its.batchSize(),
                its.lease(),
                its.concurrency(),
                its.retention(),
                its.maxLeaseExpiries(),
                its.handlers());
        return new Given<>(prefix, OutboxOptions.defaults().withQueue(queue))
                .with("table", its.table(), OutboxOptions::withTableName)
                .with("failed-head", its.failedHead(), OutboxOptions::withFailedHead)
                .options();
    }

    InboxOptions inbox() {
        var its = given.inbox();
        String prefix = "windlass.inbox";
        QueueOptions queue = queue(
                prefix,
                InboxOptions.defaults().queue(),
                its.pollingInterval(),
                its.batchSize(),
                its.lease(),
                its.concurrency(),
                null,
                its.maxLeaseExpiries(),
                its.handlers());
        return new Given<>(prefix, InboxOptions.defaults().withQueue(queue))
                .with("table", its.table(), InboxOptions::withTableName)
                .with("retention", its.retention(), InboxOptions::withRetention)
                .with("guard-lease", its.guardLease(), InboxOptions::withGuardLease)
                .with("renew-at-most", its.renewAtMost(), InboxOptions::withRenewAtMost)
                .with("wait-at-most", its.waitAtMost(), InboxOptions::withWaitAtMost)
                .with("max-attempts", its.maxAttempts(), InboxOptions::withMaxAttempts)
                .options();
    }

    WorkOptions work() {
        var its = given.work();
        String prefix = "windlass.work";
        QueueOptions queue = queue(
                prefix,
                WorkOptions.defaults().queue(),
                its.pollingInterval(),
                its.batchSize(),
                its.lease(),
                its.concurrency(),
                its.retention(),
                its.maxLeaseExpiries(),
                its.handlers());
        return new Given<>(prefix, WorkOptions.defaults().withQueue(queue))
                .with("table", its.table(), WorkOptions::withTableName)
                .with("ageing", its.ageing(), WorkOptions::withAgeing)
                .options();
    }

    private static QueueOptions queue(
            String prefix,
            QueueOptions defaults,
            @Nullable Duration pollingInterval,
            @Nullable Integer batchSize,
            @Nullable Duration lease,
            @Nullable Integer concurrency,
            @Nullable Duration retention,
            @Nullable Integer maxLeaseExpiries,
            HandlerProperties handlers) {
        return new Given<>(prefix, defaults.withHandlers(handlers(prefix + ".handlers", handlers, defaults.handlers())))
                .with("polling-interval", pollingInterval, QueueOptions::withPollingInterval)
                .with("batch-size", batchSize, QueueOptions::withBatchSize)
                .with("lease", lease, QueueOptions::withLease)
                .with("concurrency", concurrency, QueueOptions::withConcurrency)
                .with("retention", retention, QueueOptions::withRetention)
                .with("max-lease-expiries", maxLeaseExpiries, QueueOptions::withMaxLeaseExpiries)
                .options();
    }

    /** Also what an annotation says, beginning with what holds for its queue. */
    static HandlerOptions handlers(String prefix, HandlerProperties its, HandlerOptions defaults) {
        RetryPolicy retry = new Given<>(prefix, defaults.retry())
                .with("max-attempts", its.maxAttempts(), RetryPolicy::withMaxAttempts)
                .with("retry-after", its.retryAfter(), RetryPolicy::withBase)
                .with("retry-at-most-after", its.retryAtMostAfter(), RetryPolicy::withCap)
                .options();
        return new Given<>(prefix, defaults.withRetry(retry))
                .with("concurrency", its.concurrency(), HandlerOptions::withConcurrency)
                .with("timeout", its.timeout(), HandlerOptions::withTimeout)
                .with("overtime", its.overtime(), HandlerOptions::withOvertime)
                .options();
    }

    private ScheduleOptions schedule() {
        var its = given.schedule();
        return new Given<>("windlass.schedule", ScheduleOptions.defaults())
                .with("hand-off", its.handOff(), ScheduleOptions::withHandOff)
                .with("batch-size", its.batchSize(), ScheduleOptions::withBatchSize)
                .with("lease", its.lease(), ScheduleOptions::withLease)
                .with("run-retention", its.runRetention(), ScheduleOptions::withRunRetention)
                .options();
    }

    private LeaseOptions leases() {
        var its = given.leases();
        return new Given<>("windlass.leases", LeaseOptions.defaults())
                .with("table", its.table(), LeaseOptions::withTableName)
                .with("renew-at", its.renewAt(), LeaseOptions::withRenewAt)
                .with("retention", its.retention(), LeaseOptions::withRetention)
                .options();
    }

    static FleetOptions fleet(FleetProperties its) {
        return new Given<>("windlass.fleet", FleetOptions.defaults())
                .with("concurrency", its.concurrency(), FleetOptions::withConcurrency)
                .with("in-hand", its.inHand(), FleetOptions::withInHand)
                .with("claims-at-once", its.claimsAtOnce(), FleetOptions::withClaimsAtOnce)
                .with("kept-connections", its.keptConnections(), FleetOptions::withKeptConnections)
                .with("refresh-every", its.refreshEvery(), FleetOptions::withRefreshEvery)
                .with("parallelism", its.parallelism(), FleetOptions::withParallelism)
                .options();
    }

    HealthOptions health() {
        HealthProperties its = given.health();
        HealthOptions defaults = HealthOptions.defaults();
        return new Given<>("windlass.health", defaults)
                .with("timeout", its.timeout(), HealthOptions::withTimeout)
                .with("cache-for", its.cacheFor(), HealthOptions::withCacheFor)
                .with(
                        "backlog-unhealthy",
                        its.backlogUnhealthy(),
                        (o, most) -> o.withBacklog(Math.min(o.backlogDegraded(), most), most))
                .with("backlog-degraded", its.backlogDegraded(), (o, some) -> o.withBacklog(some, o.backlogUnhealthy()))
                .with(
                        "overdue-unhealthy",
                        its.overdueUnhealthy(),
                        (o, most) -> o.withOverdueTimers(Math.min(o.overdueDegraded(), most), most))
                .with(
                        "overdue-degraded",
                        its.overdueDegraded(),
                        (o, some) -> o.withOverdueTimers(some, o.overdueUnhealthy()))
                .with("stuck-unhealthy", its.stuckUnhealthy(), HealthOptions::withStuckUnhealthy)
                .with("throughput-degraded", its.throughputDegraded(), HealthOptions::withThroughputDegraded)
                .options();
    }
}
