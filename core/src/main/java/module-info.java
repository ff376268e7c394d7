/** Reliable background work on the database an application already has. What is exported is the API; the rest may change. */
@SuppressWarnings({
    "requires-automatic",
    "requires-transitive-automatic", // the driver and Micrometer have no descriptor yet
    "module" // those that are exported to are built after this one
})
module dev.windlass {
    requires transitive java.sql;
    requires org.slf4j;
    requires static transitive org.jspecify;

    // Who has one of these uses it; none is needed.
    requires static transitive com.fasterxml.jackson.databind;
    requires static transitive micrometer.core;
    requires static micrometer.commons;
    requires static transitive micrometer.observation;
    requires static org.postgresql.jdbc;
    requires static transitive tools.jackson.databind;

    exports dev.windlass;
    exports dev.windlass.base;
    exports dev.windlass.cron;
    exports dev.windlass.event;
    exports dev.windlass.health;
    exports dev.windlass.inbox;
    exports dev.windlass.join;
    exports dev.windlass.lease;
    exports dev.windlass.metrics;
    exports dev.windlass.operator;
    exports dev.windlass.outbox;
    exports dev.windlass.schedule;
    exports dev.windlass.schema;
    exports dev.windlass.store;
    exports dev.windlass.trace;
    exports dev.windlass.work;

    // Parts of Windlass of the same version, and nobody else.
    exports dev.windlass.internal.database to
            dev.windlass.cli,
            dev.windlass.testkit;
    exports dev.windlass.internal.engine to
            dev.windlass.cli,
            dev.windlass.testkit;
    exports dev.windlass.internal.fleet to
            dev.windlass.cli;
    exports dev.windlass.internal.loop to
            dev.windlass.cli;
    exports dev.windlass.internal.schema to
            dev.windlass.cli,
            dev.windlass.testkit;
    exports dev.windlass.internal.support to
            dev.windlass.cli,
            dev.windlass.testkit;
}
