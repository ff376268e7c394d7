package dev.windlass.internal.database;

/** What a look at a table tells of what an earlier one may have missed. What it is made of only the engine knows. */
public interface Proof {

    /** Of a look that tells nothing. */
    Proof NONE = earlier -> false;

    /** Whether every transaction that was open at the earlier look had ended before this one, so that this one saw what it wrote. */
    boolean covers(Proof earlier);
}
