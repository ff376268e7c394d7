package dev.windlass;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Connections on which a certain statement takes its time, until it may go on. */
public final class HeldStatements {
    private final DataSource real;
    private final String text;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final AtomicInteger closed = new AtomicInteger();

    /**
     * @param text a part of the statement
     */
    public HeldStatements(DataSource real, String text) {
        this.real = real;
        this.text = text;
    }

    public CountDownLatch begun() {
        return begun;
    }

    public void goOn() {
        goOn.countDown();
    }

    /** How many connections have been given back since it went on. */
    public int closedSince() {
        return closed.get();
    }

    public DataSource source() {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(real, arguments);
                        return result instanceof Connection connection ? held(connection) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private Connection held(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (arguments != null && arguments[0] instanceof String sql && sql.contains(text)) {
                        begun.countDown();
                        goOn.await();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } finally {
                        if (method.getName().equals("close") && goOn.getCount() == 0) {
                            closed.incrementAndGet();
                        }
                    }
                });
    }
}
