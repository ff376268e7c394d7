package dev.windlass.base;

import dev.windlass.Windlass;
import dev.windlass.internal.support.Require;
import java.time.Duration;

/**
 * What all features of one {@link Windlass} have in common.
 *
 * @param schemaName the database schema that holds Windlass's tables and routines
 * @param ensureSchema whether {@code start} brings the schema up to date; off by default, because a program that serves
 *     users rarely may create tables
 * @param backgroundWorkers whether this node handles work; a node without only writes it
 * @param maxPollingInterval the longest pause between two looks at an idle database
 * @param wakeUp whether nodes wake each other through the database (LISTEN / NOTIFY), which needs one connection; without,
 *     an idle node looks every second
 * @param shutdownGrace how long {@code close} lets running handlers finish; it takes about two seconds longer at most
 * @param nodeName what is stored as the node that processed a message, up to 100 characters
 * @param autoCommitAllowed whether methods with a connection take one that commits each statement by itself; off by default,
 *     because a message is then written whatever becomes of the change it speaks of
 * @param transactionRequired whether messages, timers and work items are refused outside of a transaction, because then nothing makes
 *     them one with the change they speak of; off by default
 * @param retriesAsWarnings whether failed attempts are logged as warnings if they are tried again; otherwise all are errors
 * @param callRetries how often a call of the database is tried after a deadlock or a lost connection, and with what pauses; for two
 *     seconds at most
 */
public record WindlassOptions(
        String schemaName,
        boolean ensureSchema,
        boolean backgroundWorkers,
        Duration maxPollingInterval,
        boolean wakeUp,
        Duration shutdownGrace,
        String nodeName,
        boolean autoCommitAllowed,
        boolean transactionRequired,
        boolean retriesAsWarnings,
        RetryPolicy callRetries) {

    public WindlassOptions {
        Require.identifier("schema name", schemaName);
        Require.positive("maximum polling interval", maxPollingInterval);
        Require.notNegative("shutdown grace", shutdownGrace);
        Require.text("node name", nodeName, 100);
        Require.present("policy for calls", callRetries);
    }

    public static WindlassOptions defaults() {
        return new WindlassOptions(
                "windlass",
                false,
                true,
                Duration.ofSeconds(30),
                true,
                Duration.ofSeconds(30),
                NodeName.ofThisProcess(),
                false,
                false,
                false,
                RetryPolicy.ofCalls());
    }

    public WindlassOptions withSchemaName(String schemaName) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withEnsureSchema(boolean ensureSchema) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withBackgroundWorkers(boolean backgroundWorkers) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withMaxPollingInterval(Duration maxPollingInterval) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withWakeUp(boolean wakeUp) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withShutdownGrace(Duration shutdownGrace) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withNodeName(String nodeName) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withAutoCommitAllowed(boolean autoCommitAllowed) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withTransactionRequired(boolean transactionRequired) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withRetriesAsWarnings(boolean retriesAsWarnings) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }

    public WindlassOptions withCallRetries(RetryPolicy callRetries) {
        return new WindlassOptions(
                schemaName,
                ensureSchema,
                backgroundWorkers,
                maxPollingInterval,
                wakeUp,
                shutdownGrace,
                nodeName,
                autoCommitAllowed,
                transactionRequired,
                retriesAsWarnings,
                callRetries);
    }
}
