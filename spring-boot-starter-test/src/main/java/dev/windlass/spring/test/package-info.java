/**
 * Tests of Spring Boot applications with Windlass.
 *
 * <p>{@link dev.windlass.spring.test.WindlassTest} starts a part of the application: its handlers, and what is around a database.
 * {@link dev.windlass.spring.test.EmbeddedWindlass} is for tests that start all of it. Both have a real PostgreSQL, a schema for each context that
 * Spring keeps, and a {@link dev.windlass.testkit.Workbench} as a bean.
 */
@NullMarked
package dev.windlass.spring.test;

import org.jspecify.annotations.NullMarked;
