package dev.windlass;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/** A server that accepts logins and does not answer them, to a data source without a time limit. No interrupt helps. */
public final class SilentLogins {
    private final DataSource real;
    private final BooleanSupplier concerned;
    private final AtomicInteger hanging = new AtomicInteger();
    private final List<Connection> late = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch answer = new CountDownLatch(0);

    public SilentLogins(DataSource real) {
        this(real, () -> true);
    }

    /**
     * @param concerned whether the thread that asks is one of those that hang
     */
    public SilentLogins(DataSource real, BooleanSupplier concerned) {
        this.real = real;
        this.concerned = concerned;
    }

    public void fallSilent() {
        answer = new CountDownLatch(1);
    }

    /** Logins from now on are answered; those that hang go on hanging. */
    public CountDownLatch answerNewOnes() {
        CountDownLatch old = answer;
        answer = new CountDownLatch(0);
        return old;
    }

    public int hanging() {
        return hanging.get();
    }

    /** Connections that came after a silence. */
    public List<Connection> late() {
        return late;
    }

    public DataSource source() {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    CountDownLatch now = answer;
                    boolean hangs =
                            method.getName().equals("getConnection") && now.getCount() > 0 && concerned.getAsBoolean();
                    if (hangs) {
                        await(now);
                    }
                    try {
                        Object result = method.invoke(real, arguments);
                        if (hangs) {
                            late.add((Connection) result);
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void await(CountDownLatch until) {
        hanging.incrementAndGet();
        boolean interrupted = false;
        while (until.getCount() > 0) {
            try {
                until.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        hanging.decrementAndGet();
    }
}
