/**
 * Windlass in a Spring Boot application.
 *
 * <p>What is on the class path and a data source are enough: there are beans for {@link dev.windlass.Windlass} and each of its features,
 * configured by the properties {@code windlass.*}. Methods of beans handle messages if they have one of the annotations of this package.
 *
 * <p><b>Transactions.</b> What is written inside of a transaction of Spring's, on the same data source, is a part of it; see
 * {@link dev.windlass.spring.SpringTransactions} for how it is found, and what happens when it has just ended.
 *
 * <p><b>Life.</b> The beans exist before the others of the application, so that these can write messages. Handlers begin when the context is
 * ready, after the web server, and end before it. The beans that handle messages are asked for when the first one comes: a handler may need the
 * outbox, and the outbox does not need the handler.
 */
@NullMarked
package dev.windlass.spring;

import org.jspecify.annotations.NullMarked;
