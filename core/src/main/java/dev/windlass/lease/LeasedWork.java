package dev.windlass.lease;

/** Work that runs under a lease. */
@FunctionalInterface
public interface LeasedWork {

    /** Does the work; returning or throwing gives the lease back. The thread is interrupted when the lease is lost. */
    void run(Lease lease) throws Exception;
}
