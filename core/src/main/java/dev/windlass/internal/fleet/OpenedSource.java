package dev.windlass.internal.fleet;

import dev.windlass.store.Store;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The data source of a store, which is closed with it if it was opened for it. */
public record OpenedSource(Store store, DataSource dataSource) {
    private static final Logger log = LoggerFactory.getLogger(OpenedSource.class);

    /** Opens it. */
    public static OpenedSource of(Store store) throws Exception {
        return new OpenedSource(store, store.open());
    }

    public void close() {
        if (store.isOpenedHere() && dataSource instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception e) {
                log.warn(
                        "[{}] its data source could not be closed ({})",
                        store.id(),
                        e.getClass().getName());
            }
        }
    }
}
