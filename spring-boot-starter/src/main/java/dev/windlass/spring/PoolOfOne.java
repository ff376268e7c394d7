package dev.windlass.spring;

import dev.windlass.spring.Given.InvalidPropertyException;
import javax.sql.DataSource;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;

/** A pool with a single connection: a node that handles work keeps that one, and nobody else gets any. */
final class PoolOfOne {
    private static final String SIZE = "maximumPoolSize";

    private PoolOfOne() {}

    /**
     * @param source without the proxies around it; how large it is, is known of HikariCP, which Spring Boot takes
     * @throws InvalidPropertyException if it has one connection, and this node handles work
     */
    static void refuse(WindlassProperties properties, DataSource source) {
        BeanWrapper pool = PropertyAccessorFactory.forBeanPropertyAccess(source);
        if (properties.workers()
                && pool.isReadableProperty(SIZE)
                && Integer.valueOf(1).equals(pool.getPropertyValue(SIZE))) {
            throw new InvalidPropertyException(
                    "spring.datasource.hikari.maximum-pool-size",
                    1,
                    "expected a pool of two connections or more, better of three beside what handlers and requests use, got"
                            + " one, which Windlass would keep for itself; with windlass.workers=false it is enough",
                    null);
        }
    }
}
