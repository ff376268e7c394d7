package dev.windlass.store;

import java.util.Collection;

/** Tells which stores there are; asked again and again. */
@FunctionalInterface
public interface DatabaseDiscovery {
    /**
     * All stores that there are now. Those that are missing are closed when their handlers have finished; new ones are opened; those
     * that have changed are replaced. If it throws, or two have the same identifier, all stays as it is.
     */
    Collection<Store> discover() throws Exception;
}
