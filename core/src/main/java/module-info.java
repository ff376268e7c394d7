/** Reliable background work on the database an application already has. What is exported is the API; the rest may change. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"
}) // the driver and Micrometer have no descriptor yet
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
}
