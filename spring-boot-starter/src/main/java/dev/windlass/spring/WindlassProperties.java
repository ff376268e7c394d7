package dev.windlass.spring;

import dev.windlass.base.Feature;
import dev.windlass.base.Overtime;
import dev.windlass.outbox.FailedHead;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be said of Windlass by properties. What is not said has Windlass's own default.
 *
 * @param enabled whether there is a Windlass at all
 * @param workers whether this node handles work; a node without only writes it
 * @param name what identifies the database in logs, errors and metrics
 * @param features those that are used; of others no tables are needed. All of them by default
 * @param dataSource the bean with the data source, if there are several and none is the primary one
 * @param transactionManager the bean with the transaction manager that begins transactions of handlers, if there are several for the data
 *     source and none is the primary one
 * @param schema the database schema that holds Windlass's tables and routines
 * @param ensureSchema whether the start brings the schema up to date; better left to migrations in production
 * @param nodeName what is stored as the node that handled a message
 * @param maxPollingInterval the longest pause between two looks at an idle database
 * @param wakeUp whether nodes wake each other through the database
 * @param shutdownGrace how long handlers may go on when the application ends
 * @param autoCommitAllowed whether methods with a connection take one that commits each statement by itself
 * @param transactionRequired whether messages, timers and work items are refused outside of a transaction, instead of being written in one of
 *     their own
 * @param retriesAsWarnings whether failed attempts are logged as warnings if they are tried again
 * @param stores several databases instead of one, by identifier; then there is a Fleet instead of a Windlass
 */
@ConfigurationProperties("windlass")
public record WindlassProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("true") boolean workers,
        @Nullable String name,
        @Nullable Set<Feature> features,
        @Nullable String dataSource,
        @Nullable String transactionManager,
        @Nullable String schema,
        @Nullable Boolean ensureSchema,
        @Nullable String nodeName,
        @Nullable Duration maxPollingInterval,
        @Nullable Boolean wakeUp,
        @Nullable Duration shutdownGrace,
        @Nullable Boolean autoCommitAllowed,
        @Nullable Boolean transactionRequired,
        @Nullable Boolean retriesAsWarnings,
        @DefaultValue OutboxProperties outbox,
        @DefaultValue InboxProperties inbox,
        @DefaultValue WorkProperties work,
        @DefaultValue ScheduleProperties schedule,
        @DefaultValue LeaseProperties leases,
        @DefaultValue HealthProperties health,
        @DefaultValue Map<String, StoreProperties> stores,
        @DefaultValue FleetProperties fleet) {

    /**
     * The outbox.
     *
     * @param table the table
     * @param pollingInterval the pause after an empty look, doubled after each further one
     * @param batchSize how many messages a claim takes to begin with
     * @param lease how long a claimed message stays claimed without a heartbeat
     * @param concurrency how many handlers run at once on this node
     * @param retention how long handled messages are kept; zero deletes them at once
     * @param maxLeaseExpiries after how many crashes of its process a message is given up
     * @param failedHead what becomes of the messages behind one that has failed, under the same ordering key
     */
    public record OutboxProperties(
            @Nullable String table,
            @Nullable Duration pollingInterval,
            @Nullable Integer batchSize,
            @Nullable Duration lease,
            @Nullable Integer concurrency,
            @Nullable Duration retention,
            @Nullable Integer maxLeaseExpiries,
            @Nullable FailedHead failedHead,
            @DefaultValue HandlerProperties handlers) {}

    /**
     * The inbox.
     *
     * @param table the table
     * @param pollingInterval the pause after an empty look, doubled after each further one
     * @param batchSize how many messages a claim takes to begin with
     * @param lease how long a claimed message stays claimed without a heartbeat
     * @param concurrency how many handlers run at once on this node
     * @param retention how long it is remembered what has been processed
     * @param maxLeaseExpiries after how many crashes of its process a message is given up
     * @param guardLease how long who begins a message without the queue has it, unless it renews
     * @param renewAtMost for how long it is renewed
     * @param waitAtMost how long a second delivery waits for the outcome of the first
     * @param maxAttempts after how many attempts a message that is processed without the queue is given up
     */
    public record InboxProperties(
            @Nullable String table,
            @Nullable Duration pollingInterval,
            @Nullable Integer batchSize,
            @Nullable Duration lease,
            @Nullable Integer concurrency,
            @Nullable Duration retention,
            @Nullable Integer maxLeaseExpiries,
            @Nullable Duration guardLease,
            @Nullable Duration renewAtMost,
            @Nullable Duration waitAtMost,
            @Nullable Integer maxAttempts,
            @DefaultValue HandlerProperties handlers) {}

    /**
     * The work queue.
     *
     * @param table the table
     * @param pollingInterval the pause after an empty look, doubled after each further one
     * @param batchSize how many items a claim takes to begin with
     * @param lease how long a claimed item stays claimed without a heartbeat
     * @param concurrency how many handlers run at once on this node
     * @param retention how long ended items are kept
     * @param maxLeaseExpiries after how many crashes of its process an item is given up
     * @param ageing after how much longer a wait a lower priority comes first; zero means never
     */
    public record WorkProperties(
            @Nullable String table,
            @Nullable Duration pollingInterval,
            @Nullable Integer batchSize,
            @Nullable Duration lease,
            @Nullable Integer concurrency,
            @Nullable Duration retention,
            @Nullable Integer maxLeaseExpiries,
            @Nullable Duration ageing,
            @DefaultValue HandlerProperties handlers) {}

    /**
     * What holds for handlers that do not say otherwise.
     *
     * @param concurrency how many messages of one topic this node handles at once, at most
     * @param timeout how long one attempt may take
     * @param overtime what becomes of a message whose handler goes on after its time-out, although it was interrupted
     * @param maxAttempts how many attempts a message has, the first included
     * @param retryAfter the pause after the first failed attempt; it doubles with each further one
     * @param retryAtMostAfter the longest pause
     */
    public record HandlerProperties(
            @Nullable Integer concurrency,
            @Nullable Duration timeout,
            @Nullable Overtime overtime,
            @Nullable Integer maxAttempts,
            @Nullable Duration retryAfter,
            @Nullable Duration retryAtMostAfter) {}

    /**
     * Timers and jobs.
     *
     * @param handOff whether this node lets due timers and runs become messages
     * @param batchSize how many timers become messages in one transaction at most
     * @param lease how long after a start of the database server no claim of a timer or run is taken back
     * @param runRetention how long ended runs of jobs are kept
     */
    public record ScheduleProperties(
            @Nullable Boolean handOff,
            @Nullable Integer batchSize,
            @Nullable Duration lease,
            @Nullable Duration runRetention) {}

    /**
     * Leases.
     *
     * @param table the table
     * @param renewAt the part of its duration after which a lease is renewed
     * @param retention how long a lease that nobody holds any more can still be seen
     */
    public record LeaseProperties(
            @Nullable String table,
            @Nullable Double renewAt,
            @Nullable Duration retention) {}

    /**
     * When something counts as unwell.
     *
     * @param timeout how long all checks may take together
     * @param cacheFor how long an answer is given again
     * @param backlogDegraded more messages than this that are due in one queue
     * @param backlogUnhealthy the same
     * @param overdueDegraded more timers than this that are due for more than five minutes
     * @param overdueUnhealthy the same
     * @param stuckUnhealthy more messages than this that are stuck in one queue
     * @param throughputDegraded less than so many percent of what was claimed and is not in hand any more came to an end
     */
    public record HealthProperties(
            @Nullable Duration timeout,
            @Nullable Duration cacheFor,
            @Nullable Integer backlogDegraded,
            @Nullable Integer backlogUnhealthy,
            @Nullable Integer overdueDegraded,
            @Nullable Integer overdueUnhealthy,
            @Nullable Integer stuckUnhealthy,
            @Nullable Integer throughputDegraded) {}

    /**
     * One of several databases.
     *
     * @param dataSource the bean with its data source; either this or a URL
     * @param url its address, as the driver takes it; its connections come from a pool for all that are given this way
     * @param username who logs in there
     * @param password their password
     * @param schema the schema that holds Windlass's tables there, if it is another than in the others
     */
    public record StoreProperties(
            @Nullable String dataSource,
            @Nullable String url,
            @Nullable String username,
            @Nullable String password,
            @Nullable String schema) {

        /** Without its password, and its address, which may hold one. */
        @Override
        public String toString() {
            return "StoreProperties[dataSource=" + dataSource + ", url=" + hidden(url) + ", username=" + username
                    + ", password=" + hidden(password) + ", schema=" + schema + "]";
        }

        private static @Nullable String hidden(@Nullable String secret) {
            return secret == null ? null : "***";
        }
    }

    /**
     * What several databases share.
     *
     * @param connections how many connections those have together that are given by a URL
     * @param concurrency how many handlers run at once, over all of them
     * @param inHand how many messages are claimed and not completed, over all of them
     * @param claimsAtOnce how many claims are under way
     * @param keptConnections how many of them keep a connection, for heartbeats and notifications
     * @param refreshEvery how often it is asked which databases there are
     * @param parallelism how many are opened, migrated or closed at once
     */
    public record FleetProperties(
            @DefaultValue("50") int connections,
            @Nullable Integer concurrency,
            @Nullable Integer inHand,
            @Nullable Integer claimsAtOnce,
            @Nullable Integer keptConnections,
            @Nullable Duration refreshEvery,
            @Nullable Integer parallelism) {}
}
